package docs_test

import (
	"strings"
	"testing"
)

// A stranger reads the README to its end only if it is short.
func TestTheReadmeHasAtMost1300Words(t *testing.T) {
	if words := len(strings.Fields(readFile(t, "README.md"))); words > 1300 {
		t.Errorf("the README has %d words: move something to a page of infra/docs", words)
	}
}

// The first screen says what it is, for whom, and what to run.
func TestTheReadmeShowsAllOfItOnTheFirstScreen(t *testing.T) {
	lines := strings.SplitAfter(readFile(t, "README.md"), "\n")
	first := strings.Join(lines[:40], "")
	for _, part := range []string{
		"](infra/docs/images/herald.svg)", "**A good fit if**", "**Not for**", "**Status**", "\nmake run ", "\nmake test ",
	} {
		if !strings.Contains(first, part) {
			t.Errorf("the first 40 lines lack %q", part)
		}
	}
	if size := len(readFile(t, "infra/docs/images/herald.svg")); size > 500_000 {
		t.Errorf("the picture has %d bytes, which a reader has to wait for", size)
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
	for _, part := range []string{
		"proof.md#the-last-run", "has not run on AWS yet", "`herald verify`", "deploy.md#verify-a-deployment",
	} {
		if !strings.Contains(status, part) {
			t.Errorf("the status does not say %q: %s", part, status)
		}
	}
}
