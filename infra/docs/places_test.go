package docs_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/retry"
)

// The rows are about the default schedule: attempts, how it came about, and the place at each receive.
func TestThePlacesOfTheDesignAreTheSchedules(t *testing.T) {
	schedule := retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}
	_, section, _ := strings.Cut(readFile(t, "design.md"), "\n| `attempts` | how it came to RetryQueue |")
	section, _, _ = strings.Cut(section, "\n\n")
	rows := strings.Split(section, "\n")
	if len(rows) < 4 {
		t.Fatalf("design.md has no table of places: %q", section)
	}
	for _, row := range rows[2:] {
		all := cells(strings.Trim(row, "|"))
		attempts, err := strconv.Atoi(all[0])
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for receives := range len(all[2:]) {
			want = append(want, strconv.Itoa(schedule.Place(attempts, receives+1)))
		}
		if diff := cmp.Diff(want, all[2:]); diff != "" {
			t.Errorf("places after %d attempts (-schedule +design):\n%s", attempts, diff)
		}
	}
}
