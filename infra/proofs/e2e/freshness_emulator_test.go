//go:build emulator

package e2e

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// change makes a request to the management API about an endpoint.
func change(t *testing.T, c *client.Client, method, path string, body any) (changed client.Endpoint) {
	t.Helper()
	if err := c.Call(t.Context(), method, "/v1/webhooks/"+path, body, &changed); err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestARotatedSecretHoldsForTheNextEventAndForAWaitingRetry(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	publish(t, c, "user.restored") // deliver now knows the first secret
	s.await(t, 1)
	s.Fail(failing...)
	publish(t, c, "user.created")
	s.await(t, 2)
	rotated := change(t, c, http.MethodPost, s.ID+"/rotate-secret", nil)
	if rotated.SigningSecret == "" || rotated.SigningSecret == s.SigningSecret {
		t.Fatal("no new secret")
	}
	s.verify(t, rotated.SigningSecret)
	s.Fail()
	publish(t, c, "user.updated")
	eventually(t, "both events under the new secret", func(context.Context) (bool, error) {
		genuine := map[string]bool{}
		for _, r := range s.Requests() {
			genuine[r.Event] = r.Status == http.StatusOK && r.Standard == nil
		}
		return genuine["user.created"] && genuine["user.updated"], nil
	})
	s.tests(t, c)
}

// tests has the owner of an endpoint test it: the settings that the owner reads have to be the ones in use.
func (s subscription) tests(t *testing.T, c *client.Client) {
	t.Helper()
	var sent management.TestSent
	body := management.Test{Type: management.Of("organization.created")}
	if err := c.Call(t.Context(), http.MethodPost, "/v1/webhooks/"+s.ID+"/test", body, &sent); err != nil {
		t.Fatal(err)
	}
	state(t, sent.DeliveryID, "acknowledged")
	got := s.Requests()
	last := got[len(got)-1]
	if last.ID != sent.DeliveryID || last.Event != "organization.created" || !strings.HasPrefix(last.ID, "test_") {
		t.Errorf("sent %s, and got %s of %s", sent.DeliveryID, last.ID, last.Event)
	}
	genuine(t, got[len(got)-1:])
}

// failing are statuses for longer than a test may take to change an endpoint while its delivery waits.
var failing = slices.Repeat([]int{500}, 100)

// Deliveries that wait for a disabled endpoint are sent once it is active again, and those of a deleted endpoint are
// dropped. Events that are published while an endpoint is disabled or deleted do not reach it, then or later.
func TestAnEndpointThatIsDisabledOrDeletedGetsNothing(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s, witness := subscribe(t, c, "*"), subscribe(t, c, "*")
	s.Fail(failing...)
	publish(t, c, "user.created")
	held := s.await(t, 1)[0].ID
	s.turn(t, c, "disabled")
	publish(t, c, "user.updated")
	witness.await(t, 2)
	eventually(t, "a retry that was not sent", func(ctx context.Context) (bool, error) {
		d, err := operator.Delivery(ctx, held)
		return d.Reason == "endpoint_disabled", err
	})
	s.Fail()
	s.turn(t, c, "active")
	state(t, held, "acknowledged")
	active := s.Requests()
	if !sameDelivery(active) {
		t.Errorf("a disabled endpoint got %s", active[len(active)-1].Event)
	}

	s.Fail(failing...)
	publish(t, c, "user.banned")
	dropped := s.await(t, len(active)+1)[len(active)].ID
	change(t, c, http.MethodDelete, s.ID, nil)
	publish(t, c, "user.deleted")
	witness.await(t, 4)
	state(t, dropped, "discarded")
	s.Fail()
	before := len(s.Requests())
	change(t, c, http.MethodPost, s.ID+"/restore", nil)
	publish(t, c, "user.restored")
	got := s.await(t, before+1)
	genuine(t, got)
	if last := got[len(got)-1]; !sameDelivery(got[len(active):before]) || last.Event != "user.restored" {
		t.Errorf("a deleted endpoint got %s, a restored one %s", got[before-1].Event, last.Event)
	}
}
