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

// A case that ends by one of the client's limits gets a short one; all others are longer than the
// case may take, so that none passes by running into them.
var longLimits = limits{connect: time.Minute, attempt: time.Minute}

type limits struct{ connect, attempt time.Duration }

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

// patience is how long a POST may be out before the test stops waiting to see what came of it.
const patience = 25 * time.Second

func TestHostileReceivers(t *testing.T) {
	for _, c := range receivers.Hostile {
		t.Run(c.Name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			target := c.Start(t, ca)
			ends := endings[c.Ends]
			client := newClient(ca, target, ends.limits)
			t.Cleanup(client.Close)
			for i, want := range c.Want {
				got, cost := post(t, client, target.URL)
				if got != want {
					t.Errorf("POST %d: got %+v, want %+v", i+1, got, want)
				}
				if cost.bytes > c.Bytes {
					t.Errorf("POST %d allocated %d bytes, the bound is %d", i+1, cost.bytes, c.Bytes)
				}
				if cost.time > ends.within {
					t.Errorf("POST %d took %s, the bound is %s", i+1, cost.time, ends.within)
				}
			}
			if target.Sent != nil && target.Sent() > receivers.Sent {
				t.Errorf("the receiver got rid of %d bytes, the bound is %d", target.Sent(), receivers.Sent)
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

// cost is what a POST took; bytes are allocated, the receiver's side included.
type cost struct {
	time  time.Duration
	bytes uint64
}

// post sends one delivery. A POST that outlives every limit fails the test at once.
func post(t *testing.T, client *egress.Client, url string) (receivers.Outcome, cost) {
	t.Helper()
	header, body := http.Header{"Content-Type": {"application/json"}}, []byte(`{"type":"user.created","data":{}}`)
	done := make(chan delivery.Response, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	go func() { done <- client.Post(t.Context(), url, header, body) }()
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
