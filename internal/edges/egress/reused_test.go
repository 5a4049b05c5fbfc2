package egress_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// together is how many POSTs are out at once.
const together = 50

func TestClient_keepsConnections(t *testing.T) {
	var requests atomic.Int32
	ca := receivers.NewCA(t)
	server, count := countingServer(t, usual(t, ca), func(w http.ResponseWriter, r *http.Request) {
		crowd := (requests.Add(1) + together - 1) / together
		for requests.Load() < crowd*together && r.Context().Err() == nil { // none can use the connection of one that is done
			time.Sleep(time.Millisecond)
		}
		_, _ = io.WriteString(w, "thanks") // a body, which has to be read before its connection is free
	})
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for range 3 {
		postTogether(t, client, server.URL, together)
	}
	if got := count.accepted.Load(); got != together {
		t.Errorf("%d connections for three times %d POSTs at once, want %d", got, together, together)
	}
}

// The client replaces a connection that is too old. A name may then have moved to another owner's address, so it is
// resolved and its certificate verified anew. A process may also be frozen between two invocations until the receiver
// has hung up.
func TestClient_Post_replacesAConnection(t *testing.T) {
	old := longLimits
	old.age = time.Nanosecond
	for name, row := range map[string]struct {
		limits
		between func(*httptest.Server)
	}{
		"that is too old":      {old, func(*httptest.Server) {}},
		"that ended meanwhile": {longLimits, (*httptest.Server).CloseClientConnections},
	} {
		t.Run(name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			var requests atomic.Int32
			server, count := countingServer(t, usual(t, ca), func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1); r.TLS.DidResume {
					w.WriteHeader(http.StatusConflict) // the certificate was not looked at
				}
			})
			client := newClient(t, ca, receivers.Target{}, row.limits)
			for range 4 {
				postTogether(t, client, server.URL, 1)
				row.between(server)
			}
			if requests.Load() != 4 || count.accepted.Load() != 4 {
				t.Errorf("%d requests on %d connections, want 4 on 4", requests.Load(), count.accepted.Load())
			}
		})
	}
}

// A receiver learns from TLS that a connection ended, and that nothing was cut off.
func TestClient_Close_saysGoodbye(t *testing.T) {
	const alert = 21 // a record's type (RFC 5246, A.1), which TLS 1.3 hides
	ca := receivers.NewCA(t)
	last := make(chan byte)
	address := listen(t, ca, tls.VersionTLS12, func(c net.Conn) {
		defer close(last)
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		rest, _ := io.ReadAll(c.(*tls.Conn).NetConn())
		last <- append(rest, 0)[0]
	})
	client := newClient(t, ca, receivers.Target{}, longLimits)
	got := client.Post(t.Context(), to("https://"+address+"/hook"))
	checkResponse(t, "a POST", delivery.Response{Status: http.StatusOK}, got)
	client.Close()
	if kind := <-last; kind != alert {
		t.Errorf("the last record is of type %d, want %d", kind, alert)
	}
}

// counted are connections to a server.
type counted struct{ accepted, open atomic.Int32 }

// countingServer counts the connections made to it.
func countingServer(t *testing.T, config *tls.Config, handle http.HandlerFunc) (*httptest.Server, *counted) {
	t.Helper()
	count := &counted{}
	server := httptest.NewUnstartedServer(handle)
	server.TLS = config
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			count.accepted.Add(1)
			count.open.Add(1)
		case http.StateClosed:
			count.open.Add(-1)
		default:
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, count
}

// usual is the configuration of a server that has nothing special.
func usual(t *testing.T, ca *receivers.CA) *tls.Config {
	t.Helper()
	return &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{})}}
}

// postTogether sends n deliveries at once and wants every one answered with 200.
func postTogether(t *testing.T, client *egress.Client, url string, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			got := client.Post(t.Context(), to(url))
			checkResponse(t, "one of many", delivery.Response{Status: http.StatusOK}, got)
		})
	}
	wg.Wait()
}
