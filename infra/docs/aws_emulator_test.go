//go:build emulator

package docs_test

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

var (
	command  = regexp.MustCompile("(?m)(?:^ *|`|\\$\\()aws ([a-z0-9-]+) ([a-z0-9-]+)([^`\\n|]*)")
	option   = regexp.MustCompile(`--([a-z0-9-]+)`)
	cliAlone = regexp.MustCompile(`aws (s3 |cloudformation deploy|logs tail|\w+ wait)`) // not of an API
)

// known asks AWS's own models of its APIs for each operation and option.
const known = `
import json, sys
import botocore.session
from botocore import xform_name

session = botocore.session.get_session()
everywhere = {"cli-binary-format", "output", "profile", "query", "region"}
renamed = {"notification-endpoint"}  # by the CLI, of sns subscribe
for service, operation, options in json.load(sys.stdin):
    try:
        model = session.get_service_model(service)
    except Exception:
        print("aws", service, "is no service")
        continue
    operations = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in operations:
        print("aws", service, operation, "does not exist")
        continue
    members = model.operation_model(operations[operation]).input_shape.members
    names = {xform_name(name, "-") for name in members} | everywhere | renamed
    for option in options:
        if option not in names and option.removeprefix("no-") not in names:
            print("aws", service, operation, "has no option", option)
`

// This includes the commands that no test can run: those for a lost Region, or for the end of a stack.
func TestAWSKnowsTheCommandsOfTheDocuments(t *testing.T) {
	commands := [][]any{}
	seen := map[string]bool{}
	for name, text := range texts(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, match := range command.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", " "), -1) {
			if cliAlone.MatchString(match[0]) {
				continue
			}
			options := []string{}
			for _, o := range option.FindAllStringSubmatch(match[3], -1) {
				options = append(options, o[1])
			}
			commands = append(commands, []any{match[1], match[2], options})
			seen[match[1]+" "+match[2]] = true
		}
	}
	for _, want := range []string{"kms replicate-key", "kms update-primary-region"} {
		if !seen[want] {
			t.Errorf("the documents have no aws %s: are commands still found?", want)
		}
	}
	input, err := json.Marshal(commands)
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(root)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", known)
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	faults := slices.Compact(strings.Split(strings.TrimSpace(string(out)), "\n"))
	if len(faults) > 1 || faults[0] != "" {
		t.Errorf("of %d commands:\n%s", len(commands), out)
	}
}
