package egress_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// endings say with which limits a case is posted to and when the POST has to be back, with room
// for a busy machine.
var endings = map[receivers.End]struct {
	limits
	within time.Duration
}{
	receivers.Promptly:   {longLimits, 10 * time.Second},
	receivers.ByDrain:    {longLimits, 5 * time.Second},
	receivers.ByConnect:  {limits{connect: 2 * time.Second, attempt: time.Minute}, 4 * time.Second},
	receivers.ByDeadline: {limits{connect: time.Minute, attempt: 3 * time.Second}, 6 * time.Second},
}

// patience is the time after which the test gives up a POST that has not ended.
const patience = 25 * time.Second

// Threat of a receiver: exhausts memory, connections or time. Held by: bounds on everything read, one deadline over
// all ([any sender](hostile.md)).
func TestClient_Post_survivesHostileReceivers(t *testing.T) {
	for _, c := range receivers.Hostile {
		t.Run(c.Name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			target := c.Start(t, ca)
			ends := endings[c.Ends]
			client := newClient(t, ca, target, ends.limits)
			for i, want := range c.Want {
				if i > 0 {
					time.Sleep(c.Pause)
				}
				got, cost := post(t, client, target.URL)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("outcome of POST %d (-want +got):\n%s", i+1, diff)
				}
				if cost.bytes > c.Bytes {
					t.Errorf("POST %d allocated %d bytes, the bound is %d", i+1, cost.bytes, c.Bytes)
				}
				if cost.time > ends.within {
					t.Errorf("POST %d took %s, the bound is %s", i+1, cost.time, ends.within)
				}
			}
			if target.Seen.Sent() > receivers.Sent {
				t.Errorf("the receiver got rid of %d bytes, the bound is %d", target.Seen.Sent(), receivers.Sent)
			}
			if n := target.Seen.Behind(); n > 0 {
				t.Errorf("%d requests, or bytes of them, on a connection with another answer in it", n)
			}
			if n := target.Seen.Requests(); c.Unsent && n > 0 {
				t.Errorf("%d requests where nothing may be sent", n)
			}
			if target.Trapped != nil && target.Trapped() != 0 {
				t.Errorf("%d connections where none may go", target.Trapped())
			}
		})
	}
}

// Another tenant's endpoint on the same host is delivered to before, while and after the hostile one is,
// by the same client, and never notices.
//
// Threat of a receiver: answers another delivery's request. Held by: a connection serves one tenant and host, and none
// after a stray byte.
func TestClient_Post_keepsTenantsOnOneHostApart(t *testing.T) {
	shared := 0
	for _, c := range receivers.Hostile {
		ca := receivers.NewCA(t)
		shared += sharedHost(t, c, ca)
	}
	if shared < 80 {
		t.Errorf("%d receivers were shared, want all that read a request", shared)
	}
}

// sharedHost starts a separate test if the case's host serves a neighbour.
func sharedHost(t *testing.T, c receivers.Case, ca *receivers.CA) int {
	t.Helper()
	target := c.Start(t, ca)
	if target.Neighbour == "" {
		return 0
	}
	client := newClient(t, ca, target, endings[c.Ends].limits)
	neighbour := to(target.Neighbour)
	neighbour.TenantID = "tenant_2"
	fine := func(t *testing.T, when string) {
		t.Helper()
		got := client.Post(t.Context(), neighbour)
		checkResponse(t, "the neighbour of what "+c.Name+", "+when, delivery.Response{Status: 204}, got)
	}
	t.Run(c.Name, func(t *testing.T) {
		t.Parallel()
		fine(t, "before")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range c.Want {
				client.Post(t.Context(), to(target.URL))
			}
		}()
		for range 3 {
			fine(t, "meanwhile")
		}
		<-done
		for range 2 {
			fine(t, "after")
		}
	})
	return 1
}

// cost is the time of a POST, and the bytes that were allocated for it, including the receiver's.
type cost struct {
	time  time.Duration
	bytes uint64
}

// post sends one delivery. A POST that outlives every limit fails the test at once.
func post(t *testing.T, client *egress.Client, url string) (receivers.Outcome, cost) {
	t.Helper()
	done := make(chan delivery.Response, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	go func() { done <- client.Post(t.Context(), to(url)) }()
	select {
	case got := <-done:
		took := time.Since(started)
		runtime.ReadMemStats(&after)
		return receivers.Outcome{Status: got.Status, Reason: string(got.Reason), RetryAfter: got.RetryAfter},
			cost{time: took, bytes: after.TotalAlloc - before.TotalAlloc}
	case <-time.After(patience):
		t.Fatalf("the POST is not back after %s", patience)
		return receivers.Outcome{}, cost{}
	}
}
