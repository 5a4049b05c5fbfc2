package egress_test

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// Another tenant's endpoint on the same host is delivered to before, while and after the hostile one is,
// by the same client, and never notices.
func TestClient_Post_keepsTenantsOnOneHostApart(t *testing.T) {
	shared := 0
	for _, c := range receivers.Hostile {
		ca := receivers.NewCA(t)
		shared += sharedHost(t, c, ca)
	}
	if shared < 100 {
		t.Errorf("%d receivers were shared, want all that read a request", shared)
	}
}

// sharedHost starts a test of its own if the case's host serves a neighbour.
func sharedHost(t *testing.T, c receivers.Case, ca *receivers.CA) int {
	t.Helper()
	target := c.Start(t, ca)
	if target.Neighbour == "" {
		return 0
	}
	client := newClient(ca, target, endings[c.Ends].limits)
	t.Cleanup(client.Close)
	neighbour := to(target.Neighbour)
	neighbour.TenantID = "tenant_2"
	fine := func(t *testing.T, when string) {
		t.Helper()
		got := client.Post(t.Context(), neighbour)
		checkResponse(t, "the neighbour of what "+c.Name+", "+when, delivery.Response{Status: 204}, got)
	}
	t.Run(c.Name, func(t *testing.T) {
		t.Parallel()
		fine(t, "before")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range c.Want {
				client.Post(t.Context(), to(target.URL))
			}
		}()
		for range 3 {
			fine(t, "meanwhile")
		}
		<-done
		for range 2 {
			fine(t, "after")
		}
	})
	return 1
}
