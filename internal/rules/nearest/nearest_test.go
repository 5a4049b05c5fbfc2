package nearest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTo_isTheNearestFirst(t *testing.T) {
	known := []string{"open", "healthy", "opened", ""}
	for name, want := range map[string][]string{
		"opend": {"open", "opened"}, "helthy": {"healthy"}, "": {""}, "closed": {}, strings.Repeat("o", 65): nil,
	} {
		if diff := cmp.Diff(want, To(name, known)); diff != "" {
			t.Errorf("nearest to %q (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]string{"open", "healthy", "opened", ""}, known); diff != "" {
		t.Errorf("the list was changed (-want +got):\n%s", diff)
	}
}

func TestTo_suggestsNothingForNamesOfMoreThan64Bytes(t *testing.T) {
	known := []string{strings.Repeat("a", 64)}
	if got := To(strings.Repeat("a", 63)+"b", known); len(got) != 1 {
		t.Errorf("for 64 bytes it suggests %q", got)
	}
	if got := To(strings.Repeat("a", 65), known); len(got) != 0 {
		t.Errorf("for 65 bytes it suggests %q", got)
	}
}
