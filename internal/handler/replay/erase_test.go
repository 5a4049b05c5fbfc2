package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit"
)

// erasable are the items of every tenant, page by page.
var erasable = []struct {
	kind  string
	count int
}{{"api_keys", 2}, {"endpoints", 3}, {"deliveries", 400}, {"deliveries", 400}, {"deliveries", 400}, {"deliveries", 300}}

// Page's place is the number of the page.
func (w *world) Page(
	_ context.Context, tenantID, place string, dryRun bool,
) (kind string, count int, next string, err error) {
	time.Sleep(w.takes)
	n, _ := strconv.Atoi(place)
	if n+1 < len(erasable) {
		next = strconv.Itoa(n + 1)
	}
	what := map[bool]string{true: "count ", false: "delete "}[dryRun]
	err = w.step(what+tenantID+" "+strconv.Itoa(n), func() {})
	return erasable[n].kind, erasable[n].count, next, err
}

const auditLine, sure = "audit erase  by ann", `"tenant_id":"acme","confirm":"acme"`

func TestHandler_erase_goesOnWhereTheLastRequestEnded(t *testing.T) {
	pages := func(what string) (steps []string) {
		for n := range erasable {
			steps = append(steps, fmt.Sprint(what, " acme ", n))
		}
		return steps
	}
	line, erased, counted := []string{auditLine}, pages("delete"), pages("count")
	for name, row := range map[string]struct {
		fields string
		takes  time.Duration // a page
		want   []string
	}{
		"a thousand at a time": {sure, 0, slices.Concat(line, erased[:5], line, erased[5:])},
		"some seconds at a time": {
			sure, eraseTime / 2, slices.Concat(line, erased[:2], line, erased[2:4], line, erased[4:], line),
		},
		"in a dry run": {`"tenant_id":"acme","dry_run":true`, 0, counted},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, sum := newStore(t, 0), map[string]int{}
			w.takes = row.takes
			for next := ""; ; {
				function := testkit.ByAlias(w.handler().Function(), ForGood)
				answer := testkit.Read[Erased](t, testkit.Ask(t, function, "erase", row.fields+next))
				for kind, n := range answer.Counts {
					sum[kind] += n
				}
				if answer.NextCursor == nil {
					break
				}
				next = `,"cursor":"` + *answer.NextCursor + `"`
			}
			counts := map[string]int{"api_keys": 2, "endpoints": 3, "deliveries": 1500, kindUnreadable: 0}
			if diff := cmp.Diff(counts, sum) + cmp.Diff(row.want, w.steps); diff != "" {
				t.Errorf("%s: counts, steps (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestHandler_erase_endsWithAFault(t *testing.T) {
	unaudited, failing := newWorld(), newWorld()
	unaudited.unaudited, failing.last = true, 3 // the second page
	for w, want := range map[*world][]string{unaudited: nil, failing: {auditLine, "delete acme 0"}} {
		got := testkit.Ask(t, testkit.ByAlias(w.handler().Function(), ForGood), "erase", sure)
		if diff := cmp.Diff(want, w.steps); diff != "" || got != testkit.Internal {
			t.Errorf("%s, steps (-want +got):\n%s", got, diff)
		}
	}
	if !strings.Contains(failing.log.String(), `"results":{"api_keys":2}`) {
		t.Errorf("what was erased is not in the log: %s", &failing.log)
	}
}
