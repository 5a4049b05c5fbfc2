package invariants

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The longest chain: a first attempt fails, the tenant is slow when its retry is received, and the delivery dies in the
// slow lane. In all walks and days, no message takes another way.
func TestDeliverInvokesItselfTwiceAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.own(hook, 500)
		w.rules.Schedule.MaxRetries = 2 // all waits are spent on queues
		w.publish(hook)
		w.run(4*time.Second, func() bool { return false })
		w.Slow[tenant] = time.Now().Add(7 * time.Hour)
		w.run(time.Hour, w.idle)
		want := []string{"DeliveryQueue to RetryQueue", "RetryQueue to SlowQueue", "SlowQueue to DeadLetterQueue"}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(w.routes))); diff != "" || len(w.broken) > 0 {
			t.Errorf("ways (-want +got):\n%s%v", diff, w.broken)
		}
	})
}
