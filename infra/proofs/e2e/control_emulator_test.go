//go:build emulator

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// waiting reports whether inspect shows so many deliveries of an event as waiting. The error shows others.
func waiting(ctx context.Context, tenantID, eventID string, want int) (bool, error) {
	list, err := ask(ctx, api.ListDeliveries, api.DeliveriesRequest{TenantID: tenantID, EventID: eventID})
	n := 0
	for _, d := range list.Data {
		if d.State == "waiting" && d.Reason == "endpoint_paused" {
			n++
		}
	}
	if err == nil && n != want {
		err = fmt.Errorf("inspect shows %+v", list.Data)
	}
	return n == want, err
}

// createdAgain is an endpoint with the URL of one that its owner deletes.
func (s subscription) createdAgain(t *testing.T, c *client.Client) subscription {
	t.Helper()
	change(t, c, http.MethodDelete, s.ID, nil)
	endpoint, err := c.CreateEndpoint(t.Context(), s.Inbox.URL, "*")
	if err != nil {
		t.Fatal(err)
	}
	s.Endpoint = endpoint
	s.verify(t, s.SigningSecret)
	return s
}

// An operator pauses one of a tenant's endpoints, and then the tenant. Deliveries wait from then on, although the owner
// changes the endpoint, and deletes it to create its URL again. They arrive once both are resumed.
//
// Threat of a tenant: lifts an operator's pause or limit. Held by: marks are kept by id and domain, where `webhooks`
// may not write.
func TestNothingThatAnOwnerDoesLiftsAPause(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	paused, other := subscribe(t, c, "*"), subscribe(t, c, "*")
	endpoint := api.Target{TenantID: c.TenantID, EndpointID: paused.ID}
	all := api.Target{TenantID: c.TenantID}
	occurredAt := map[string]time.Time{} // by delivery
	for _, step := range []struct {
		target  api.Target
		waiting int
	}{{endpoint, 1}, {all, 2}} {
		if got := get(t, api.Pause, step.target); got.State != "paused" {
			t.Fatalf("paused: %+v", got)
		}
		change(t, c, http.MethodPatch, paused.ID, about{"description": "mine"})
		change(t, c, http.MethodDelete, paused.ID, nil)
		change(t, c, http.MethodPost, paused.ID+"/restore", nil)
		paused.turn(t, c, "disabled")
		paused.turn(t, c, "active")
		change(t, c, http.MethodPatch, paused.ID, about{"url": paused.Inbox.URL + "/elsewhere"})
		change(t, c, http.MethodPatch, paused.ID, about{"url": paused.Inbox.URL})
		if step.target == endpoint { // later a deletion would discard what waits
			paused = paused.createdAgain(t, c)
			endpoint.EndpointID = paused.ID
		}
		event := publish(t, c, "user.deleted")
		content := delivery.ContentOf([]byte(event.Payload()))
		for _, s := range []subscription{paused, other} {
			occurredAt[delivery.ID(c.TenantID, event.ID, s.ID, content)] = occurred(t, event)
		}
		eventually(t, fmt.Sprintf("%d waiting", step.waiting), func(ctx context.Context) (bool, error) {
			return waiting(ctx, c.TenantID, event.ID, step.waiting)
		})
		if h, _, err := operator.Health(t.Context(), c.TenantID, paused.ID); err != nil || h.State != "paused" {
			t.Errorf("%+v, %v", h, err)
		}
	}
	_, err := ask(t.Context(), api.Release, endpoint)
	if err == nil || !strings.Contains(err.Error(), "tenant_paused") {
		t.Errorf("released under the pause: %v", err)
	}
	if n := len(paused.Requests()); n != 0 {
		t.Errorf("%d requests under the pause", n)
	}
	for _, target := range []api.Target{all, endpoint} {
		if got := get(t, api.Resume, target); got.Result != "resumed" {
			t.Fatalf("resumed: %+v", got)
		}
	}
	for id, want := range occurredAt { // through Backlog and RetryQueue
		if got := state(t, id, "acknowledged").OccurredAt; !got.Equal(want) {
			t.Errorf("%s occurred at %v, want %s", id, got, want)
		}
	}
	genuine(t, paused.await(t, 2))
	genuine(t, other.await(t, 2))
}

func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	keys := get(t, api.ListKeys, api.KeysRequest{TenantID: c.TenantID}).Data
	if len(keys) != 1 {
		t.Fatalf("keys %+v", keys)
	}
	if err := c.Call(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil); err != nil {
		t.Fatalf("before: %v", err)
	}
	revoked := get(t, api.RevokeKey, api.RevokeKeyRequest{KeyID: keys[0].KeyID})
	if revoked.RevokedAt.IsZero() {
		t.Errorf("revoke answered %+v", revoked)
	}
	var refused *client.Problem
	err := c.Call(t.Context(), http.MethodGet, "/v1/webhooks", nil, nil)
	if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("after: %v", err)
	}
}
