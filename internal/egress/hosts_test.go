package egress_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

const (
	mostIdle = 128 // connections, and TLS sessions (infra/decisions/0015-an-exchange-of-our-own.md)
	// manyHosts may say how many hosts there are. 10,000 take half a minute.
	manyHosts = "HERALD_TEST_HOSTS"
)

// Each host is delivered to once and never again: the worst that can happen to what is kept by host. What those beyond
// the first 128 add is what is not bounded.
func TestClient_boundsWhatManyHostsCost(t *testing.T) {
	hosts := mostIdle + mostIdle/2
	if text := os.Getenv(manyHosts); text != "" {
		var err error
		if hosts, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	ca := receivers.NewCA(t)
	var open atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, receivers.Leaf{Hosts: []string{"*.hosts.test"}})}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		default:
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	resolver := receivers.DNS(t, receivers.Always("127.0.0.1"))
	client := newClient(ca, receivers.Target{Resolver: resolver}, longLimits)
	t.Cleanup(client.Close)

	visit := func(from, to int) {
		var next atomic.Int32
		next.Store(int32(from))
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
					r := delivery.Request{TenantID: "tenant_1", URL: fmt.Sprintf("https://h%d.hosts.test:%s/hook", i, port)}
					checkResponse(t, r.URL, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), r))
				}
			})
		}
		wait.Wait()
		for limit := time.Now().Add(10 * time.Second); open.Load() > mostIdle; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("%d connections are open after %d hosts", open.Load(), to)
			}
		}
	}
	visit(0, mostIdle)
	heap, goroutines := heapInUse(), runtime.NumGoroutine()
	visit(mostIdle, hosts)
	if grown := int(heapInUse()) - int(heap); grown > 8<<20 {
		t.Errorf("%d more hosts took %d bytes more", hosts-mostIdle, grown)
	}
	if grown := runtime.NumGoroutine() - goroutines; grown > 50 {
		t.Errorf("%d more hosts took %d goroutines more", hosts-mostIdle, grown)
	}
}

// Half of the hosts hang up after their answer, and the TLS session alone may be kept. The others give no session, and
// the connection may be kept, but where tickets are long. No two certificates are the same.
func TestClient_boundsWhatCertificatesCost(t *testing.T) {
	const most = 24 << 20
	for name, size := range map[string]struct{ certificate, ticket int }{
		"kept":                 {12 << 10, 0},
		"too many to be kept":  {28 << 10, 0},
		"with a ticket beside": {1 << 10, 60 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			port := padding(t, ca, size.certificate, size.ticket)
			resolver := receivers.DNS(t, receivers.Always("127.0.0.1"))
			client := newClient(ca, receivers.Target{Resolver: resolver}, longLimits)
			t.Cleanup(client.Close)
			heap := heapInUse()
			for i := range mostIdle + mostIdle/4 {
				for _, kind := range []string{"closing", "keeping"} {
					url := fmt.Sprintf("https://%s-%d.hosts.test:%s/hook", kind, i, port)
					checkResponse(t, url, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), to(url)))
				}
			}
			grown := int(heapInUse()) - int(heap)
			runtime.KeepAlive(client)
			if grown > most {
				t.Errorf("certificates took %d bytes, the bound is %d", grown, most)
			}
		})
	}
}

// padding serves hosts whose certificate comes with another of so many bytes, and returns the port. Those called
// closing-… hang up, the others give no sessions, or all do with tickets of so many bytes.
func padding(t *testing.T, ca *receivers.CA, bytes, ticket int) (port string) {
	t.Helper()
	cert := ca.Issue(t, receivers.Leaf{Hosts: []string{"*.hosts.test"}})
	closing := func(host string) bool { return strings.HasPrefix(host, "closing-") }
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if closing(r.Host) {
			w.Header().Set("Connection", "close")
		}
	}))
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		padded := cert
		padded.Certificate = [][]byte{cert.Certificate[0], receivers.Padding(t, bytes)}
		config := &tls.Config{
			Certificates: []tls.Certificate{padded}, SessionTicketsDisabled: ticket == 0 && !closing(hello.ServerName),
		}
		if ticket > 0 {
			config.WrapSession = func(tls.ConnectionState, *tls.SessionState) ([]byte, error) {
				return make([]byte, ticket), nil
			}
		}
		return config, nil
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
