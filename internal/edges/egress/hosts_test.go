package egress_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
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
			cert := ca.Issue(t, receivers.Leaf{Hosts: []string{"*.hosts.test"}})
			server, count := countingServer(t, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				padded := cert
				padded.Certificate = [][]byte{cert.Certificate[0], receivers.Padding(t, certificate)}
				return &tls.Config{Certificates: []tls.Certificate{padded}}, nil
			}}, func(http.ResponseWriter, *http.Request) {})
			resolver := receivers.DNS(t, receivers.Always("127.0.0.1"))
			client := newClient(t, ca, receivers.Target{Resolver: resolver}, longLimits)
			heap := heapInUse()
			for i := range mostIdle + mostIdle/2 {
				url := strings.Replace(server.URL, "127.0.0.1", fmt.Sprintf("h%d.hosts.test", i), 1)
				checkResponse(t, url, delivery.Response{Status: http.StatusOK}, client.Post(t.Context(), to(url)))
			}
			for limit := time.Now().Add(10 * time.Second); count.open.Load() > mostIdle; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Fatalf("%d connections are open", count.open.Load())
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

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
