package egress_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// mostIdle is the number of connections that are kept (infra/decisions/0015-an-exchange-of-our-own.md).
const mostIdle = 128

// Each host is delivered to once and never again, the worst that can happen to connections that are kept by
// host, and no two certificates are the same.
func TestClient_boundsTheCostOfManyHosts(t *testing.T) {
	const most = 24 << 20
	for name, certificate := range map[string]int{"with usual certificates": 5 << 10, "with long certificates": 20 << 10} {
		t.Run(name, func(t *testing.T) {
			ca := receivers.NewCA(t)
			port, open := padding(t, ca, certificate)
			resolver := receivers.DNS(t, receivers.Always("127.0.0.1"))
			client := newClient(t, ca, receivers.Target{Resolver: resolver}, longLimits)
			heap := heapInUse()
			for i := range mostIdle + mostIdle/2 {
				url := fmt.Sprintf("https://h%d.hosts.test:%s/hook", i, port)
				checkResponse(t, url, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), to(url)))
			}
			for limit := time.Now().Add(10 * time.Second); open.Load() > mostIdle; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Fatalf("%d connections are open", open.Load())
				}
			}
			grown := int(heapInUse()) - int(heap)
			runtime.KeepAlive(client)
			if grown > most {
				t.Errorf("the hosts took %d bytes, the bound is %d", grown, most)
			}
		})
	}
}

// padding serves hosts whose certificate comes with another of so many bytes. It returns the port and the number of
// open connections.
func padding(t *testing.T, ca *receivers.CA, bytes int) (port string, open *atomic.Int32) {
	t.Helper()
	open = new(atomic.Int32)
	cert := ca.Issue(t, receivers.Leaf{Hosts: []string{"*.hosts.test"}})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		default:
		}
	}
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		padded := cert
		padded.Certificate = [][]byte{cert.Certificate[0], receivers.Padding(t, bytes)}
		return &tls.Config{Certificates: []tls.Certificate{padded}}, nil
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, open
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
