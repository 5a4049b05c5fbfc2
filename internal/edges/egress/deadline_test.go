package egress_test

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// A caller can tell that the caller's own deadline ended the exchange: its context is over when Post returns. The
// receiver is not to blame then.
func TestClient_Post_showsWhoseDeadlineItWas(t *testing.T) {
	ca := receivers.NewCA(t)
	ended := make(chan struct{})
	url := "https://" + listen(t, ca, tls.VersionTLS13, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		<-ended
	}) + "/hook"
	defer close(ended)
	client := newClient(t, ca, receivers.Target{}, longLimits)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		got := client.Post(ctx, to(url))
		checkResponse(t, "a receiver that never answers", delivery.Response{Reason: delivery.ReasonTimeout}, got)
		if ctx.Err() == nil {
			t.Error("the caller's time is not over")
		}
		cancel()
	}
}

func TestClient_Post_beginsNothingAfterItsContext(t *testing.T) {
	address, trapped := receivers.Trap(t, "127.0.0.1:0")
	client := newClient(t, receivers.NewCA(t), receivers.Target{}, longLimits)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := client.Post(ctx, to("https://"+address+"/hook"))
	checkResponse(t, "a POST too late", delivery.Response{Reason: delivery.ReasonTimeout}, got)
	if trapped() != 0 {
		t.Errorf("%d connections", trapped())
	}
}
