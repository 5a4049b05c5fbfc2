package egress_test

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// A process without file descriptors is no fault of the receiver's, whether it shows in the resolver or in the dialler.
func TestClient_Post_callsRunningOutOfFileDescriptorsAnInternalFault(t *testing.T) {
	ca := receivers.NewCA(t)
	server, _ := countingServer(t, usual(t, ca), func(http.ResponseWriter, *http.Request) {})
	target := receivers.Target{Resolver: receivers.DNS(t, receivers.Always("127.0.0.1"))}
	client := newClient(t, ca, target, longLimits)
	for name, url := range map[string]string{
		"an address": server.URL,
		"a name":     "https://receiver.test:9999/hook",
	} {
		t.Run(name, func(t *testing.T) {
			withoutFiles(t, func() {
				got := client.Post(t.Context(), to(url))
				checkResponse(t, url, delivery.Response{Reason: delivery.ReasonInternal}, got)
			})
		})
	}
	got := client.Post(t.Context(), to(server.URL))
	checkResponse(t, "once there are some", delivery.Response{Status: http.StatusOK}, got)
}

// withoutFiles calls f while this process can open nothing.
func withoutFiles(t *testing.T, f func()) {
	t.Helper()
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &usual); err != nil {
		t.Fatal(err)
	}
	none := usual
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &usual); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}
