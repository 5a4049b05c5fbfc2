package docs_test

import (
	"strings"
	"testing"
)

// A stranger reads the README to its end only if it is short.
func TestTheReadmeHasAtMost1600Words(t *testing.T) {
	if words := len(strings.Fields(readFile(t, "README.md"))); words > 1600 {
		t.Errorf("the README has %d words: move something to a page of infra/docs", words)
	}
}

// A reader who decides on Herald sees the proofs, their limits and the first command to run at once.
func TestTheReadmeBeginsWithItsStatus(t *testing.T) {
	begin, _, _ := strings.Cut(readFile(t, "README.md"), "```")
	_, status, found := strings.Cut(begin, "\n**Status**: ")
	if !found {
		t.Fatal("nothing says **Status** above the drawing")
	}
	status, _, _ = strings.Cut(status, "\n\n")
	status = strings.Join(strings.Fields(status), " ")
	for _, part := range []string{"proved", "has not run on AWS yet", "`herald verify`", "deploy.md#verify-a-deployment"} {
		if !strings.Contains(status, part) {
			t.Errorf("the status does not say %q: %s", part, status)
		}
	}
}
