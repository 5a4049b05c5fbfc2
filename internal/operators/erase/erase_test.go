package erase

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

const sure, counted = `"tenant_id":"acme","confirm":"acme"`, `"tenant_id":"acme","dry_run":true`

func TestEraser_Erase_goesOnWhereTheLastRequestEnded(t *testing.T) {
	pages := func(what string) (steps []string) {
		for n := range operatortest.Erasable {
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
			a.Items.Takes = row.takes
			sum, err := a.erase(row.fields)
			counts := map[string]int{"api_keys": 2, "endpoints": 3, "deliveries": 1500, kindUnreadable: 0}
			if diff := cmp.Diff(counts, sum) + cmp.Diff(row.want, a.Items.Steps); diff != "" || err != nil {
				t.Errorf("%s: %v, counts, pages (-want +got):\n%s", name, err, diff)
			}
			lines := slices.Repeat([]string{"audit erase  by ann"}, row.audits)
			if diff := cmp.Diff(lines, a.Steps, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: steps (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestEraser_Erase_endsWithAFault(t *testing.T) {
	for name, row := range map[string]struct {
		given func(a *account)
		want  []string
	}{
		"no line can be written": {func(a *account) { a.Refuse("PutLogEvents") }, nil},
		"the second page fails":  {func(a *account) { a.Items.Fails = 1 }, []string{"delete acme 0"}},
	} {
		inAccount(t, func(a *account) {
			row.given(a)
			_, err := a.erase(sure)
			if diff := cmp.Diff(row.want, a.Items.Steps); diff != "" || err == nil || err.Error() != testkit.Internal {
				t.Errorf("%s: %v, pages (-want +got):\n%s", name, err, diff)
			}
			if erased := strings.Contains(a.Log.String(), `"results":{"api_keys":2}`); erased != (row.want != nil) {
				t.Errorf("%s: the log has the erased items: %t", name, erased)
			}
		})
	}
}
