package nearest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agext/levenshtein"
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

// Tenants choose the names: one comparison with each known name is the most that a name may cost.
func TestTo_comparesEachNameOnce(t *testing.T) {
	var known []string
	for n := range 200 {
		known = append(known, fmt.Sprintf("organization.%s.%d", strings.Repeat("changed", 5), n))
	}
	name := strings.Repeat("x", 3) + known[0][3:]
	once := testing.AllocsPerRun(10, func() { levenshtein.Distance(name, known[0], nil) })
	all := testing.AllocsPerRun(10, func() { To(name, known) })
	if all > 2*once*float64(len(known)) { // the lists included
		t.Errorf("%v allocations for %d names, %v for one", all, len(known), once)
	}
}
