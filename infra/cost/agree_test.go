package cost

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAgree(t *testing.T) {
	for name, row := range map[string]struct {
		page, counted string
		want          bool
	}{
		"the same":                  {"| a | 1.00 | 12 |", "| a | 1.00 | 12 |", true},
		"a twentieth off":           {"| a | 105 |", "| a | 100 |", true},
		"more":                      {"| a | 107 |", "| a | 100 |", false},
		"less":                      {"| a | 94 |", "| a | 100 |", false},
		"a cent off":                {"| a | 0.02 |", "| a | 0.01 |", true},
		"two":                       {"| a | 0.03 |", "| a | 0.01 |", false},
		"another name":              {"| a | 1.00 |", "| b | 1.00 |", false},
		"a figure less":             {"| a | 1.00 |", "| a | 1.00 | 2.00 |", false},
		"figures of names, as well": {"batches of 50 | 1 |", "batches of 10 | 1 |", false},
	} {
		if got := agree(row.page, row.counted); got != row.want {
			t.Errorf("%s: %t, want %t", name, got, row.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	got := differences("same 1\nold 1\nthere 5\n", "same 1\nnew 1\nthere 9\n")
	want := []string{"- old 1", "+ new 1", "- there 5", "+ there 9"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"+ b"}, differences("a", "a\nb")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"- b"}, differences("a\nb", "a")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
