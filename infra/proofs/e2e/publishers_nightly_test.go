//go:build emulator

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
	local "github.com/herald-webhooks/herald/infra/local/stack"
)

// none is a catalogue with five types, and none of the specification's. Their data can have no other field.
func none() string {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\ninfo: { title: Own, version: '1' }\nx-leave-out: ['*']\nwebhooks:\n")
	for _, name := range []string{
		"account.opened", "account.closed", "user.signed_in", "user_v2.created", "session.started",
	} {
		fmt.Fprintf(&b, "  %s:\n    post:\n      summary: Something happened\n      requestBody:\n        content:\n"+
			"          application/json:\n            schema: { properties: { data: { type: object, required: [id],\n"+
			"              additionalProperties: false, properties: { id: { type: string, pattern: '^id_' } } } } }\n"+
			"            example: { data: { id: id_of_someone's } }\n", name)
	}
	return b.String()
}

// Herald's own publishers send what the stack's catalogue has: with none of the specification's types, and every event
// that breaks its schema rejected, the demonstration, the incident and herald verify hold. It takes a minute of a whole
// machine, so that make publishers runs it at night.
func TestOwnPublishersSendTypesOfTheStacksCatalogue(t *testing.T) {
	t.Parallel()
	home := t.TempDir() // herald looks for the local stack below the folder that it is called in
	dir := filepath.Join(home, ".local")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	given, bin := filepath.Join(dir, "catalogue.yaml"), filepath.Join(dir, "bin")
	if err := os.WriteFile(given, []byte(none()), 0o600); err != nil {
		t.Fatal(err)
	}
	golang(t, "run", "./infra/install/catalogue", "-own", given, "-out", dir)
	overlay := filepath.Join(dir, "overlay.json")
	build := []string{"build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-overlay", overlay}
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		golang(t, append(build, "-o", filepath.Join(dir, "functions", f.Name(), "bootstrap"), "./functions/"+f.Name())...)
	}
	golang(t, append(build, "-o", bin+"/", "./infra/local/demo", "./infra/local/incident", "./infra/tool/herald")...)
	stack, err := local.Start(t.Context(),
		local.Options{Root: root, Dir: dir, Parameters: []string{"SchemaCheck=reject"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	state, list := filepath.Join(dir, statefile.Name), filepath.Join(dir, "types.json")
	if err := os.WriteFile(list, []byte(`[{"name":"user.created"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for said, args := range map[string][]string{
		"5 of 5 verified":                     {"demo", "-state", state},
		"There it is":                         {"incident", "-state", state, "-seed", "17", "-letters", "5", "-once"},
		"5 events":                            {"herald", "--yes", "--local", "verify"},
		"user.created is the specification's": {"herald", "events", "convert", list, "--to", filepath.Join(dir, "converted")},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			publisher := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
			publisher.Dir = home
			prints(t, execute(t, publisher), said)
		})
	}
}
