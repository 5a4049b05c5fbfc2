package simulate

import (
	"testing"
	"time"
)

// The floods in short forms: the other tenants get only ten deliveries a second.
//
// Threat of a tenant: floods endpoints beyond their limits. Held by: the excess costs its tenant's share of slots, and
// dies of age; an alarm after a day ([figures](capacity.md#rates)).
func TestAFloodBeyondALimitIsSentAtItsPaceAndDelaysNoOther(t *testing.T) {
	t.Parallel()
	for _, p := range []rated{
		{limit: 10, hooks: 1, published: 50, lasts: time.Minute, whole: true},
		{limit: 1, hooks: 10, published: 30, lasts: time.Minute},
		{limit: 20, hooks: 1, published: 60, lasts: time.Minute, whole: true},
		{limit: 10, hooks: 1, published: 50, lasts: time.Minute, toggles: true},
	} {
		s := p.scenario("")
		s.Rate, s.Length = 10, min(s.Length, 9*time.Minute)
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			r := played(t, s)
			for _, problem := range r.Problems() {
				t.Error(problem)
			}
			if r.Posts == 0 {
				t.Error("no POST")
			}
		})
	}
}
