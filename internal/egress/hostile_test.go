package egress_test

import (
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func TestClient_Post_survivesHostileReceivers(t *testing.T) {
	for _, c := range receivers.Hostile {
		t.Run(c.Name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			target := c.Start(t, ca)
			ends := endings[c.Ends]
			client := newClient(ca, target, ends.limits)
			t.Cleanup(client.Close)
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
			if target.Sent != nil && target.Sent() > receivers.Sent {
				t.Errorf("the receiver got rid of %d bytes, the bound is %d", target.Sent(), receivers.Sent)
			}
			if target.Trapped != nil && target.Trapped() != 0 {
				t.Errorf("%d connections where none may go", target.Trapped())
			}
		})
	}
}

// required are the names of the cases that may not go missing, whatever else is in the table.
var required = []string{
	"refuses connections",
	"accepts and never starts TLS",
	"resets the connection during the TLS handshake",
	"takes the request and never answers",
	"resets the connection during the headers",
	"resets the connection during the body",
	"sends its headers a byte at a time, for ever",
	"sends its body a byte at a time, for ever",
	"stalls in the body",
	"sends a body without end",
	"sends a chunked body without end",
	"sends a body of 100 MB",
	"sends a gzip bomb",
	"sends headers without end",
	"sends one header line without end",
	"sends 200 KiB of headers",
	"offers HTTP/2 and HTTP/1.1",
	"refuses the handshake of a client without HTTP/2",
	"speaks HTTP/2 before it is asked",
	"answers in HTTP/2",
	"answers twice at once",
	"answers twice, in two records of TLS that arrive together",
	"answers the next request before it is sent",
	"sends half of a record with the next answer before the request",
	"sends half of a record with the next answer along with the first",
	"sends the first bytes of a record along with its answer",
	"answers twice in one record, and a read of 4 KiB ends between",
	"begins another answer in a record that arrives with the first",
	"begins another answer in a record that arrives with the first, the third time",
	"answers, and asks for more in a record that arrives along, the third time",
	"answers twice at once, the third time",
	"answers the next request before it is sent, the third time",
	"sends bytes after the end of its body",
	"sends bytes after its last chunk",
	"says Connection: close and stays",
	"answers in HTTP/1.0",
	"switches protocols and stays",
	"sends an over-long chunk extension",
	"sends many chunks with long extensions",
	"sends a Content-Length and then a Transfer-Encoding",
	"sends a Transfer-Encoding and then a Content-Length",
	"sends a Content-Length, a pause and a Transfer-Encoding",
	"announces a body for its 204 and sends it later",
	"announces a chunked body for its 304",
	"sends less of its body than it announced",
	"answers on a new connection before it is asked",
	"closes after each answer",
	"resets after each answer",
	"hangs up on the second request of each connection",
	"resets on the second request of each connection",
	"hangs up on every request but the first",
	"closes idle connections after a second",
	"serves one connection only, and after a pause",
	"answers slowly, within the limits",
	"changes its certificate to a wrong one and back",
	"asks for a new handshake instead of answering",
	"asks for new handshakes without end",
	"answers and asks for new handshakes without end",
	"changes its keys once and answers",
	"changes its keys without end",
	"changes its keys ten times before each byte of its headers",
	"answers and changes its keys without end",
	"floods with 1xx responses",
	"redirects with 301 to the metadata address",
	"redirects with 302 to the metadata address",
	"redirects with 303 to the metadata address",
	"redirects with 307 to the metadata address",
	"redirects with 308 to the metadata address",
	"redirects with 302 to itself elsewhere",
	"redirects with 307 to itself elsewhere",
	"redirects with 308 to itself elsewhere",
	"has a certificate for another host",
	"has an expired certificate",
	"has a self-signed certificate",
	"has a certificate of an unknown authority",
	"speaks TLS 1.1 at most",
	"sends 40 KiB of certificates",
	"sends 20 KiB of certificates",
	"sends the end of its first session ticket late",
	"answers 200 and resets at once",
	"sends a body with a 204",
	"answers 201",
	"answers 299",
	"answers 410",
	"answers 429 with a Retry-After in seconds",
	"answers 429 with a Retry-After of zero",
	"answers 429 with a Retry-After that is negative",
	"answers 429 with a Retry-After of 10,000 years",
	"answers 429 with a Retry-After beyond 64 bits",
	"answers 429 with a Retry-After with a fraction",
	"answers 429 with a Retry-After as a date",
	"answers 429 with a Retry-After as a date of the past",
	"answers 429 with a Retry-After that says nothing",
	"answers 429 with a Retry-After of 60,000 digits",
	"answers 429 with a Retry-After repeated, the first rules",
	"answers 503 with a Retry-After in seconds",
	"answers 503 with a Retry-After as a date",
	"has a name with a private address only",
	"has a name with the metadata address",
	"has a name with a private address before a public one",
	"has a name with a public address before private ones",
	"changes its address to a private one on the second query",
}

func TestHostile_hasEveryReceiverOfTheList(t *testing.T) {
	there := map[string]int{}
	for _, c := range receivers.Hostile {
		there[c.Name]++
		if there[c.Name] == 2 {
			t.Errorf("two cases are called %q", c.Name)
		}
		if _, known := endings[c.Ends]; !known || c.Bytes == 0 {
			t.Errorf("%q has no bound on time or memory", c.Name)
		}
		if len(c.Want) == 0 {
			t.Errorf("%q asks for nothing", c.Name)
		}
	}
	for _, name := range required {
		if there[name] == 0 {
			t.Errorf("no case is called %q", name)
		}
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
