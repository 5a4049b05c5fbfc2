package egress_test

import (
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// Cases that end by the client's deadline get a short one; the rest get one that is longer than
// the time they are given to come back, so that none passes by running into it.
var (
	shortLimits = limits{connect: 2 * time.Second, attempt: 3 * time.Second}
	longLimits  = limits{connect: time.Minute, attempt: time.Minute}
)

type limits struct{ connect, attempt time.Duration }

// patience is how long a POST may be out, on a machine however busy, before it counts as hanging.
const patience = 25 * time.Second

func TestHostileReceivers(t *testing.T) {
	for _, c := range receivers.Hostile {
		t.Run(c.Name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			target := c.Start(t, ca)
			limit := longLimits
			if c.Ends == receivers.ByDeadline {
				limit = shortLimits
			}
			client := newClient(ca, target, limit)
			t.Cleanup(client.Close)
			for i, want := range c.Want {
				got, bytes := post(t, client, target.URL)
				if got != want {
					t.Errorf("POST %d: got %+v, want %+v", i+1, got, want)
				}
				if bytes > c.Bytes {
					t.Errorf("POST %d allocated %d bytes, the bound is %d", i+1, bytes, c.Bytes)
				}
			}
			if target.Trapped != nil && target.Trapped() != 0 {
				t.Errorf("%d connections where none may go", target.Trapped())
			}
		})
	}
}

func TestEveryHostileReceiverOfTheListIsThere(t *testing.T) {
	if len(receivers.Hostile) < 60 {
		t.Errorf("%d cases", len(receivers.Hostile))
	}
	seen := map[string]bool{}
	for _, c := range receivers.Hostile {
		if seen[c.Name] {
			t.Errorf("two cases are called %q", c.Name)
		}
		seen[c.Name] = true
	}
}

func newClient(ca *receivers.CA, target receivers.Target, limit limits) *egress.Client {
	return egress.New(egress.Config{
		Policy:         loopbackPolicy(),
		ConnectTimeout: limit.connect,
		AttemptTimeout: limit.attempt,
		RootCAs:        ca.Pool(),
		Resolver:       target.Resolver,
	})
}

// loopbackPolicy is the local stage's: exactly 127.0.0.1 and the ports above the privileged ones.
func loopbackPolicy() egress.Policy {
	return egress.NewPolicy(
		[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		[]egress.PortRange{{From: 1024, To: 65535}},
	)
}

// post sends one delivery and reports what it allocated, the receiver's side included. A POST that outlives every limit fails the test at once.
func post(t *testing.T, client *egress.Client, url string) (receivers.Outcome, uint64) {
	t.Helper()
	header, body := http.Header{"Content-Type": {"application/json"}}, []byte(`{"type":"user.created","data":{}}`)
	done := make(chan delivery.Response, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() { done <- client.Post(t.Context(), url, header, body) }()
	select {
	case got := <-done:
		runtime.ReadMemStats(&after)
		return receivers.Outcome{Status: got.Status, Reason: string(got.Reason), RetryAfter: got.RetryAfter}, after.TotalAlloc - before.TotalAlloc
	case <-time.After(patience):
		t.Fatalf("the POST is not back after %s", patience)
		return receivers.Outcome{}, 0
	}
}
