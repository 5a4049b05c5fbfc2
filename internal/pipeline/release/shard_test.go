package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
)

// A shard ends where everything is refused, and not where one tenant or one call is.
func TestDueShard_after(t *testing.T) {
	unread := pageResult{asked: 25, unread: 25}
	ofOne := pageResult{asked: 25, unread: 25, oneTenant: true}
	partly := pageResult{asked: 25, unread: 24, transfers: 1, carriedOut: 1}
	refused := pageResult{asked: 25, transfers: 25, refused: true}
	kept := pageResult{asked: 25, transfers: 25}
	sent := pageResult{asked: 25, transfers: 25, carriedOut: 25}
	type end struct {
		Pages int // until it ended, or all
		Ended bool
		Next  int // keys of the next page
	}
	for name, row := range map[string]struct {
		pages []pageResult
		want  end
	}{
		"nothing can be read, of several tenants": {[]pageResult{unread, unread, unread, unread}, end{3, true, 25}},
		"a page in between can be read in part":   {[]pageResult{unread, unread, partly, unread, unread}, end{5, false, 25}},
		"nothing of one tenant can be read":       {[]pageResult{ofOne, ofOne, ofOne, ofOne}, end{4, false, 25}},
		"one tenant does not clear the count":     {[]pageResult{unread, ofOne, unread, unread}, end{4, true, 25}},
		"no queue takes anything":                 {[]pageResult{sent, refused, refused, sent}, end{3, true, 1}},
		"a queue refuses now and then":            {[]pageResult{refused, sent, refused, sent}, end{4, false, 25}},
		"nothing can be deleted":                  {[]pageResult{kept, kept, kept, kept}, end{4, false, 1}},
		"something can be deleted again":          {[]pageResult{kept, kept, sent}, end{3, false, 25}},
		"nothing waits any more":                  {[]pageResult{kept, {asked: 1}}, end{2, false, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := dueShard{keys: make([]dynamo.Due, 100)}
			var got end
			for _, page := range row.pages {
				s = s.after(page)
				got.Pages++
				if s.ended {
					break
				}
			}
			next, rest := s.take()
			got.Ended = s.ended
			got.Next = len(next)
			if diff := cmp.Diff(row.want, got); diff != "" || len(next)+len(rest.keys) != 100 {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Counts are values: adding them up changes none of them, and of the faults of a step the first is kept.
func TestCounts_plus(t *testing.T) {
	held := counts{held: 2, someDue: true, lateness: 5, told: 1, inTrouble: 1}
	sent := counts{held: 3, lateness: 3, untold: 4}
	sent.transferred[kindProbe] = 2
	one, two := failed("sending", errThrottled), failed("sending", errForeign, nil, errThrottled)
	got := one.plus(held, sent, two)
	want := counts{held: 5, someDue: true, lateness: 5, told: 1, untold: 4, inTrouble: 1}
	want.transferred[kindProbe] = 2
	want.faults = map[string]failures{"sending": {times: 3, first: errThrottled}}
	same := cmp.Comparer(func(a, b failures) bool { return a == b })
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(counts{}), same); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if one.faultCount() != 1 || two.faultCount() != 2 {
		t.Errorf("%d and %d faults were changed", one.faultCount(), two.faultCount())
	}
}
