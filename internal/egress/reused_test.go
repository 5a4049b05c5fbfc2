package egress_test

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	client := newClient(ca, receivers.Target{}, longLimits)
	t.Cleanup(client.Close)
	for range 3 {
		crowd.Store(newMeeting(together))
		postTogether(t, client, server.URL, together)
	}
	if got := accepted.Load(); got != together {
		t.Errorf("%d connections for three times %d POSTs at once, want %d", got, together, together)
	}
}

func TestClient_keepsTLSSessionsOfEachTenant(t *testing.T) {
	var mu sync.Mutex
	var resumed []bool
	ca := receivers.NewCA(t)
	server, _ := countingServer(t, ca, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		resumed = append(resumed, r.TLS.DidResume)
		w.Header().Set("Connection", "close")
	})
	client := newClient(ca, receivers.Target{}, longLimits)
	t.Cleanup(client.Close)
	for _, tenant := range []string{"tenant_1", "tenant_1", "tenant_2", "tenant_1", "tenant_2"} {
		r := to(server.URL)
		r.TenantID = tenant
		checkResponse(t, tenant, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), r))
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]bool{false, true, false, true, true}, resumed); diff != "" {
		t.Errorf("handshakes that resumed a session (-want +got):\n%s", diff)
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
