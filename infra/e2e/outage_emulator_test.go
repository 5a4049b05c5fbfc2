//go:build emulator

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// inHealth waits until inspect shows the endpoint in the state.
func inHealth(t *testing.T, tenantID string, s subscription, want string) client.Health {
	t.Helper()
	var h client.Health
	eventually(t, want+" circuit", func(ctx context.Context) (bool, error) {
		var err error
		h, _, err = operator.Health(ctx, tenantID, s.ID)
		return h.State == want, err
	})
	return h
}

// A receiver fails under traffic and comes back while its circuit is open: until then it gets nothing
// but probes, and after the first probe that it answers 2xx, everything. Nobody does anything for it.
func TestAReceiverThatWasDownGetsEverythingThatItMissed(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "user.created")
	traffic := c.StartTraffic(t.Context(), unique("outage"))
	t.Cleanup(func() { _, _ = traffic.Stop() })
	s.await(t, 10)
	s.Fail(slices.Repeat([]int{http.StatusServiceUnavailable}, 10_000)...)
	if h := inHealth(t, c.TenantID, s, "open"); h.LastStatus != http.StatusServiceUnavailable {
		t.Errorf("open: %+v", h)
	}
	time.Sleep(time.Second) // for batches that were under way
	quiet, before := len(s.Requests()), len(traffic.Sent())
	if failed := s.await(t, quiet+1); len(failed) != quiet+1 {
		t.Errorf("%d requests while the circuit was open, want one probe", len(failed)-quiet)
	}
	s.Fail() // the receiver is back
	if held := len(traffic.Sent()) - before; held == 0 {
		t.Error("nothing was published while the circuit was open")
	}
	probed := s.await(t, quiet+2)[quiet+1]
	if probed.Status != http.StatusOK {
		t.Errorf("the next probe was answered %d", probed.Status)
	}
	published, err := traffic.Stop()
	if err != nil {
		t.Fatal(err)
	}
	verified := map[string]int{}
	eventually(t, "every event", func(context.Context) (bool, error) {
		clear(verified)
		for _, r := range s.Requests() {
			if r.Status == http.StatusOK && r.Standard == nil {
				verified[string(r.Body)]++
			}
		}
		for _, p := range published {
			if verified[p.Payload] == 0 {
				return false, fmt.Errorf("%d of %d arrived", len(verified), len(published))
			}
		}
		return true, nil
	})
	t.Logf("%d events, all there %s after the probe", len(published), time.Since(probed.At).Round(time.Second))
	genuine(t, s.Requests())
	eventually(t, "empty Backlog", func(ctx context.Context) (bool, error) {
		_, waiting, err := operator.Health(ctx, c.TenantID, s.ID)
		return waiting.Count == 0, err
	})
	if letters, err := operator.DeadLetters(t.Context(), s.ID); err != nil || len(letters) != 0 {
		t.Errorf("dead letters %+v, %v", letters, err)
	}
}
