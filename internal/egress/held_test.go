package egress

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/herald-webhooks/herald/internal/delivery"
)

func TestConn_holdsShortRequestsFromTheThirdOnAndKeepsNoLargeOne(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer server.Close()
	client := New(Config{
		RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		Policy:  NewPolicy([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, []PortRange{{From: 1024, To: 65535}}),
	})
	defer client.Close()
	for i, row := range []struct {
		body int
		held bool
	}{{100, false}, {100, false}, {100, true}, {3000, true}, {maxHeld, false}, {100, true}, {oneRecord, false}} {
		if c := client.idle.newest; c != nil {
			c.wire.held = nil
		}
		r := delivery.Request{TenantID: "t", URL: server.URL, Body: bytes.Repeat([]byte("b"), row.body)}
		if got := client.Post(t.Context(), r); got.Status != http.StatusOK {
			t.Fatalf("POST %d: %+v", i+1, got)
		}
		c := client.idle.newest
		if c.served != i+1 {
			t.Fatalf("POST %d is number %d of its connection", i+1, c.served)
		}
		if room := cap(c.wire.held); (room > 0) != row.held || room > 2*maxHeld {
			t.Errorf("POST %d of %d bytes leaves room for %d", i+1, row.body, room)
		}
	}
}
