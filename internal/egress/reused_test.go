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

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// together is how many POSTs are out at once.
const together = 50

func TestClient_keepsConnections(t *testing.T) {
	var crowd atomic.Pointer[meeting]
	ca := receivers.NewCA(t)
	server, accepted := countingServer(t, ca, func(w http.ResponseWriter, r *http.Request) {
		crowd.Load().join(r)
		_, _ = io.WriteString(w, "thanks") // a body, which has to be read before its connection is free
	})
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for range 3 {
		crowd.Store(newMeeting(together))
		postTogether(t, client, server.URL, together)
	}
	if got := accepted.Load(); got != together {
		t.Errorf("%d connections for three times %d POSTs at once, want %d", got, together, together)
	}
}

// A connection that is too old is replaced, and so ends a name's time at an address that was not its owner's: the
// name is resolved and the certificate verified anew. And a process may be frozen between two invocations for as long
// as it takes a receiver to hang up.
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
			server, accepted := countingServer(t, ca, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1); r.TLS.DidResume {
					w.WriteHeader(http.StatusConflict) // the certificate was not looked at
				}
			})
			client := newClient(t, ca, receivers.Target{}, row.limits)
			for range 4 {
				postTogether(t, client, server.URL, 1)
				row.between(server)
			}
			if requests.Load() != 4 || accepted.Load() != 4 {
				t.Errorf("%d requests on %d connections, want 4 on 4", requests.Load(), accepted.Load())
			}
		})
	}
}

// A receiver learns from TLS that a connection ended, and that nothing was cut off.
func TestClient_Close_saysGoodbye(t *testing.T) {
	const alert = 21 // a record's type (RFC 5246, A.1)
	ca := receivers.NewCA(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan byte)
	go func() {
		defer close(last)
		tcp, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = tcp.Close() }()
		secure := tls.Server(tcp, &tls.Config{
			Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{})},
			MinVersion:   tls.VersionTLS12, MaxVersion: tls.VersionTLS12, // the last to show a record's type
		})
		if _, err := http.ReadRequest(bufio.NewReader(secure)); err != nil {
			return
		}
		_, _ = io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		rest, _ := io.ReadAll(tcp)
		last <- append(rest, 0)[0]
	}()
	t.Cleanup(func() { _ = listener.Close() })
	client := newClient(t, ca, receivers.Target{}, longLimits)
	got := client.Post(t.Context(), delivery.Request{TenantID: "tenant_1", URL: "https://" + listener.Addr().String()})
	checkResponse(t, "a POST", delivery.Response{Status: http.StatusOK}, got)
	client.Close()
	if kind := <-last; kind != alert {
		t.Errorf("the last record is of type %d, want %d", kind, alert)
	}
}

// countingServer counts the connections made to it.
func countingServer(t *testing.T, ca *receivers.CA, handle http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	accepted := new(atomic.Int32)
	server := httptest.NewUnstartedServer(handle)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{})}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			accepted.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, accepted
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

// meeting holds requests until as many as expected are there, so that none can use the
// connection of another that is done.
type meeting struct {
	missing  atomic.Int32
	complete chan struct{}
}

func newMeeting(n int32) *meeting {
	m := &meeting{complete: make(chan struct{})}
	m.missing.Store(n)
	return m
}

func (m *meeting) join(r *http.Request) {
	if m.missing.Add(-1) == 0 {
		close(m.complete)
	}
	select {
	case <-m.complete:
	case <-r.Context().Done():
	}
}
