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

// schedule is longer than all waits of a delivery's schedule together, each with its jitter.
const schedule = 40 * time.Second

// settle is for batches that were under way when a circuit opened.
const settle = time.Second

// maxProbes is how many probes an outage as long as the schedule may have: after 1, 2 and 4 minutes of 5 s.
const maxProbes = 3

// A receiver is down for longer than a delivery's whole schedule. From when its circuit opens it gets
// nothing but probes, and after the first probe that it answers 2xx, everything. Nothing dies, and nobody
// does anything for it.
func TestAReceiverThatWasDownGetsEverythingThatItMissed(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "user.created")
	traffic := c.StartTraffic(t.Context(), unique("outage"))
	t.Cleanup(func() { _, _ = traffic.Stop() })
	s.await(t, 10)
	s.Fail(slices.Repeat([]int{http.StatusServiceUnavailable}, 10_000)...)
	down := time.Now()
	if h := inHealth(t, c.TenantID, s, "open"); h.LastStatus != http.StatusServiceUnavailable {
		t.Errorf("open: %+v", h)
	}
	time.Sleep(settle)
	quiet, before := len(s.Requests()), len(traffic.Sent())
	if failed := s.await(t, quiet+1); len(failed) != quiet+1 {
		t.Errorf("%d requests while the circuit was open, want one probe", len(failed)-quiet)
	}
	published, err := traffic.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if len(published) == before {
		t.Error("nothing was published while the circuit was open")
	}
	time.Sleep(time.Until(down.Add(schedule)))
	s.Fail() // the receiver is back
	failed := len(s.Requests())
	probed := s.await(t, failed+1)[failed]
	if probed.Status != http.StatusOK || failed > quiet+maxProbes {
		t.Errorf("after %d probes, the next was answered %d", failed-quiet, probed.Status)
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
