package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A release ships the operator's tool and the functions. The test kit must not be in them: it pretends to be AWS, and
// listens.
func TestShippedBinaries_haveNothingOfTheTestKit(t *testing.T) {
	const module = "github.com/herald-webhooks/herald/"
	for _, shipped := range []string{module + "infra/tool/herald", module + "functions/..."} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", shipped).Output()
		if err != nil {
			t.Fatalf("listing what %s imports: %v", shipped, err)
		}
		packages := strings.Fields(string(out))
		if len(packages) < 100 {
			t.Errorf("%s imports %d packages", shipped, len(packages))
		}
		for _, p := range packages {
			if strings.HasPrefix(p, module+"internal/testkit") {
				t.Errorf("%s imports %s", shipped, p)
			}
		}
	}
}
