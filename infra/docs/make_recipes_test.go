package docs_test

import (
	"os/exec"
	"regexp"
	"testing"
)

// A recipe is put together by make from variables that may be empty, and no shell sees it before a user runs it.
// With -n, bash reads each line and runs none.
func TestMake_givesTheShellWhatItCanRead(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(readFile(t, "Makefile"), -1)
	if len(targets) < 20 {
		t.Fatalf("the Makefile has %d targets with a description", len(targets))
	}
	for _, target := range targets {
		for _, catalogue := range []string{"", "infra/examples/catalogue.yaml"} {
			cmd := exec.CommandContext(t.Context(), "make", ".SHELLFLAGS=-n -c", "--always-make", target[1],
				"CATALOGUE="+catalogue, "FIPS=1", "OLDER=HEAD", "STACK=herald")
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("make %s CATALOGUE=%s: %v: %s", target[1], catalogue, err, out)
			}
		}
	}
}
