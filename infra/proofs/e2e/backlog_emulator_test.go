//go:build emulator

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// This test waits longest: go test begins with the first file.

// waits waits until so many deliveries wait for the endpoint.
func waits(t *testing.T, c *client.Client, s subscription, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " waiting"), func(ctx context.Context) (bool, error) {
		_, waiting, err := operator.Health(ctx, c.TenantID, s.ID)
		return waiting.Count == n, err
	})
}

// turn switches the endpoint on or off, as its owner does.
func (s subscription) turn(t *testing.T, c *client.Client, status string) {
	t.Helper()
	change(t, c, http.MethodPatch, s.ID, map[string]any{"status": status})
}

// A tenant with a slow receiver is slow before long. Its deliveries wait in SlowQueue from then on, while another
// tenant's event passes them.
func TestASlowTenantDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	quick, slow := tenant(t), tenant(t)
	healthy, sleepy := subscribe(t, quick, "*"), subscribe(t, slow, "*")
	genuineHandler, release := sleepy.Handler(), make(chan struct{})
	var hangs atomic.Bool
	if err := sleepy.Verify(sleepy.SigningSecret, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		} else {
			time.Sleep(1200 * time.Millisecond) // beyond the free time, and well within the attempt timeout of 3 s
		}
		genuineHandler.ServeHTTP(w, r)
	})); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a slow tenant", func(ctx context.Context) (bool, error) {
		publish(t, slow, "user.created")
		summary, err := ask(ctx, api.GetSummary, api.SummaryRequest{})
		is := func(s api.SlowTenant) bool { return s.TenantID == slow.TenantID }
		return slices.ContainsFunc(summary.Endpoints.Slow, is), err
	})
	hangs.Store(true)
	const n = 5
	eventually(t, fmt.Sprint(n, " deliveries in SlowQueue"), func(ctx context.Context) (bool, error) {
		for range n { // more with each look: on a busy machine the first may have left the queue before it is looked at
			publish(t, slow, "user.created")
		}
		summary, err := ask(ctx, api.GetSummary, api.SummaryRequest{})
		waiting := summary.Queues["SlowQueue"]
		return waiting.Visible+waiting.InFlight >= n, err
	})
	publish(t, quick, "user.created")
	genuine(t, healthy.await(t, 1))
	close(release)
	genuine(t, sleepy.await(t, n))
}
