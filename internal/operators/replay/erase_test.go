package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/testkit"
)

// erasable are the items of every tenant, page by page.
var erasable = []struct {
	kind  string
	count int
}{{"api_keys", 2}, {"endpoints", 3}, {"deliveries", 400}, {"deliveries", 400}, {"deliveries", 400}, {"deliveries", 300}}

// items are those of a tenant, as erasures find them (Erasure).
type items struct {
	takes time.Duration // a page
	fails int           // the page that cannot be erased; 0: none
	steps []string
}

// Page's place is the number of the page.
func (i *items) Page(
	_ context.Context, tenantID, place string, dryRun bool,
) (kind string, count int, next string, err error) {
	time.Sleep(i.takes)
	n, _ := strconv.Atoi(place) // the first has no place
	if n > 0 && n == i.fails {
		return "", 0, "", errors.New("throttled")
	}
	if n+1 < len(erasable) {
		next = strconv.Itoa(n + 1)
	}
	what := map[bool]string{true: "count", false: "delete"}[dryRun]
	i.steps = append(i.steps, fmt.Sprint(what, " ", tenantID, " ", n))
	return erasable[n].kind, erasable[n].count, next, nil
}

// erase makes requests until nothing is left, and adds up their counts. It ends with the first fault.
func (a *account) erase(fields string) (sum map[string]int, err error) {
	a.Helper()
	sum = map[string]int{}
	for next := ""; ; {
		answer, err := a.within(timeout, `{"action":"erase","operator":"ann",`+fields+next+`}`)
		if err != nil {
			return sum, err
		}
		part := testkit.Read[api.Erased](a.T, answer)
		for kind, n := range part.Counts {
			sum[kind] += n
		}
		if part.NextCursor == nil {
			return sum, nil
		}
		next = `,"cursor":"` + *part.NextCursor + `"`
	}
}

const sure, counted = `"tenant_id":"acme","confirm":"acme"`, `"tenant_id":"acme","dry_run":true`

func TestHandler_erase_goesOnWhereTheLastRequestEnded(t *testing.T) {
	pages := func(what string) (steps []string) {
		for n := range erasable {
			steps = append(steps, fmt.Sprint(what, " acme ", n))
		}
		return steps
	}
	for name, row := range map[string]struct {
		fields string
		takes  time.Duration // a page
		want   []string
		audits int
	}{
		"a thousand at a time":   {sure, 0, pages("delete"), 2},
		"some seconds at a time": {sure, eraseTime / 2, pages("delete"), 4},
		"in a dry run":           {counted, 0, pages("count"), 0},
	} {
		inAccount(t, func(a *account) {
			a.items.takes = row.takes
			sum, err := a.erase(row.fields)
			counts := map[string]int{"api_keys": 2, "endpoints": 3, "deliveries": 1500, kindUnreadable: 0}
			if diff := cmp.Diff(counts, sum) + cmp.Diff(row.want, a.items.steps); diff != "" || err != nil {
				t.Errorf("%s: %v, counts, pages (-want +got):\n%s", name, err, diff)
			}
			lines := slices.Repeat([]string{"audit erase  by ann"}, row.audits)
			if diff := cmp.Diff(lines, a.steps, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: steps (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestHandler_erase_endsWithAFault(t *testing.T) {
	for name, row := range map[string]struct {
		given func(a *account)
		want  []string
	}{
		"no line can be written": {func(a *account) { a.refuse("PutLogEvents") }, nil},
		"the second page fails":  {func(a *account) { a.items.fails = 1 }, []string{"delete acme 0"}},
	} {
		inAccount(t, func(a *account) {
			row.given(a)
			_, err := a.erase(sure)
			if diff := cmp.Diff(row.want, a.items.steps); diff != "" || err == nil || err.Error() != testkit.Internal {
				t.Errorf("%s: %v, pages (-want +got):\n%s", name, err, diff)
			}
			if erased := strings.Contains(a.log.String(), `"results":{"api_keys":2}`); erased != (row.want != nil) {
				t.Errorf("%s: the log has the erased items: %t", name, erased)
			}
		})
	}
}
