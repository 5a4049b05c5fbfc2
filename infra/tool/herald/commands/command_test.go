package commands

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// The commands that look only, and all others, with their exit codes where there is no act.
var (
	readers = []string{
		"code", "status", "endpoints list", "endpoints show", "deliveries show", "deliveries find", "dead list", "dead show",
		"rejected list", "rejected show", "jobs list", "jobs show", "events check", "keys list", "types show", "tenants show",
		"types used", "tail", "events find",
	}
	actors = map[string]int{
		"endpoints convert --from svix -": exit.Failed, "events convert -": exit.Failed,
		"endpoints import -": exit.Done, "endpoints pause a/b a/c": exit.Done, "endpoints resume a/b": exit.Done,
		"endpoints limit a/b --rate 10 --reason x": exit.Done, "endpoints unlimit a/b": exit.Done,
		"endpoints release a/b": exit.Done, "endpoints discard a/b": exit.Done, "tenants pause a": exit.Done,
		"tenants limit a --rate 10 --reason x": exit.Done, "tenants unlimit a": exit.Done,
		"tenants allow a --per-host 30 --reason x": exit.Done,
		"tenants resume a":                         exit.Done, "tenants discard a": exit.Done, "tenants erase a": exit.Done,
		"dead replay --tenant a": exit.Done, "dead replay msg_1": exit.Usage, "dead purge --tenant a --watch": exit.Done,
		"dead purge msg_1": exit.Usage, "rejected publish --tenant a": exit.Done, "rejected publish m1": exit.Usage,
		"rejected discard m1": exit.Usage, "rejected discard --tenant a": exit.Done,
		"jobs stop job_1": exit.Usage, "jobs resume job_1": exit.Usage,
		"keys issue --tenant a": exit.Usage, "keys revoke hk_1": exit.Usage, "keys revoke-all a": exit.Done,
		"test a/b": exit.Done, "verify": exit.Usage,
		"events send user.created --tenant a": exit.Done, "console": exit.Usage, "stop": exit.Done, "start": exit.Done,
	}
)

// anything is an answer to any look and to any preview.
var anything = together(
	api.Erased{}, api.Survey{Selected: 1, Ready: 1, Complete: true}, listOf(api.ListedEndpoint{}))

func TestDryRun_changesNothing(t *testing.T) {
	looks := []any{"endpoint", "endpoints", "causes", "list"}
	for line, want := range actors {
		f := &fake{
			answers: map[string]string{"webhooks import": imports(wouldCreate)},
			later:   slices.Repeat([]string{anything}, 10),
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
		var out bytes.Buffer
		terminal := &terminal.Terminal{In: strings.NewReader(`{"tenant_id":"a"}`), Out: &out, Err: &out, Now: clock}
		code := f.run(ctx, terminal, append(strings.Fields(line), "--yes", "--dry-run")...)
		if code != want || ctx.Err() != nil {
			t.Errorf("%s: exit code %d, want %d, %v: %s", line, code, want, ctx.Err(), &out)
		}
		for _, r := range f.requests {
			if r["dry_run"] != true && !slices.Contains(looks, r["action"]) {
				t.Errorf("%s: asked %v", line, r)
			}
		}
		if len(f.cloud.changes) > 0 {
			t.Errorf("%s: %v", line, f.cloud.changes)
		}
		if want == exit.Usage {
			contains(t, out.String(), "--dry-run")
		}
		cancel()
	}
}

// A new command is added to one of the lists.
func TestDryRun_isTestedOfEveryCommand(t *testing.T) {
	var each func(group *cli.Command, path string)
	each = func(group *cli.Command, path string) {
		for _, c := range group.Commands {
			name := strings.TrimSpace(path + " " + c.Name)
			if each(c, name); len(c.Commands) > 0 || slices.Contains(readers, name) {
				continue
			}
			tested := false
			for line := range actors {
				tested = tested || strings.HasPrefix(line+" ", name+" ")
			}
			if !tested {
				t.Errorf("herald %s neither looks only nor has a dry run", name)
			}
		}
	}
	each(tree(setup{terminal: &terminal.Terminal{}}), "")
}
