//go:build emulator

package e2e

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// call is a request to the management API about an endpoint, and the status that answers it.
type call struct {
	method, path string
	body         any
	want         int
}

// change makes the call and fails unless it is answered as it says.
func change(t *testing.T, c *client.Client, made call) client.Endpoint {
	t.Helper()
	var changed client.Endpoint
	status, err := c.API(t.Context(), made.method, "/v1/webhooks/"+made.path, made.body, &changed)
	if err != nil || status != made.want {
		t.Fatalf("%s %s answered %d, %v", made.method, made.path, status, err)
	}
	return changed
}

func TestARotatedSecretHoldsForTheNextEventAndForAWaitingRetry(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	publish(t, c, "user.restored") // deliver now knows the first secret
	s.await(t, 1)
	s.Fail(500)
	publish(t, c, "user.created")
	s.await(t, 2)
	rotated := change(t, c, call{http.MethodPost, s.ID + "/rotate-secret", nil, http.StatusOK})
	if rotated.SigningSecret == "" || rotated.SigningSecret == s.SigningSecret {
		t.Fatal("no new secret")
	}
	s.verify(t, rotated.SigningSecret)
	publish(t, c, "user.updated")
	for _, r := range s.await(t, 4)[2:] {
		if r.Standard != nil || r.Status != http.StatusOK {
			t.Errorf("%s with the new secret: %d %v", r.Event, r.Status, r.Standard)
		}
	}
}

func TestADisabledEndpointGetsNothingAndResumes(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s, witness := subscribe(t, c, "*"), subscribe(t, c, "*")
	s.Fail(500)
	publish(t, c, "user.created")
	first := s.await(t, 1)
	change(t, c, call{http.MethodPatch, s.ID, map[string]any{"status": "disabled"}, http.StatusOK})
	publish(t, c, "user.updated")
	witness.await(t, 2)
	eventually(t, "a retry that was not sent", func(ctx context.Context) (bool, error) {
		d, err := operator.Delivery(ctx, first[0].ID)
		return d.Reason == "endpoint_disabled", err
	})
	if got := s.Requests(); len(got) != 1 {
		t.Fatalf("%d requests to a disabled endpoint", len(got)-1)
	}
	change(t, c, call{http.MethodPatch, s.ID, map[string]any{"status": "active"}, http.StatusOK})
	got := s.await(t, 2)
	genuine(t, got)
	if got[1].ID != first[0].ID {
		t.Errorf("resumed with %s %s", got[1].Event, got[1].ID)
	}
}

func TestADeletedEndpointGetsNothingUntilRestored(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s, witness := subscribe(t, c, "*"), subscribe(t, c, "*")
	s.Fail(500)
	publish(t, c, "user.created")
	first := s.await(t, 1)
	change(t, c, call{http.MethodDelete, s.ID, nil, http.StatusNoContent})
	publish(t, c, "user.deleted")
	witness.await(t, 2)
	state(t, first[0].ID, "discarded")
	change(t, c, call{http.MethodPost, s.ID + "/restore", nil, http.StatusOK})
	publish(t, c, "user.restored")
	got := s.await(t, 2)
	genuine(t, got)
	if len(got) != 2 || got[1].Event != "user.restored" {
		t.Errorf("after the restore: %d requests, last %s", len(got), got[len(got)-1].Event)
	}
}

// Headers of the owner's own come with the next batch after they were set, are replaced as a whole and removed.
func TestAnOwnersHeadersAreSent(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	for n, step := range []struct {
		headers any
		want    []string // of Authorization and X-Own
	}{
		{map[string]string{"Authorization": "Bearer e2e", "X-Own": "1"}, []string{"Bearer e2e", "1"}},
		{map[string]string{"X-Own": "2"}, []string{"", "2"}},
		{nil, []string{"", ""}},
	} {
		change(t, c, call{http.MethodPatch, s.ID, map[string]any{"headers": step.headers}, http.StatusOK})
		publishUser(t, c, unique("user"))
		r := s.await(t, n+1)[n]
		if got := []string{r.Header.Get("Authorization"), r.Header.Get("X-Own")}; !slices.Equal(got, step.want) {
			t.Errorf("%v: got %q", step.headers, got)
		}
	}
	genuine(t, s.Requests())
}
