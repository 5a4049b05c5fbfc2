//go:build emulator

package e2e

import (
	"net/http"
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// An owner's headers go along within an origin, and to no other: receivers on two ports have two.
func TestHeadersOfAnOwnerStayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	s := subscribe(t, c, "*")
	stack, err := statefile.Read(stateFile)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := receiver.Start(stack.ReceiverCertFile, stack.ReceiverKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = elsewhere.Close() })
	patch := func(body about) (changed client.Endpoint) {
		t.Helper()
		if err := c.Call(t.Context(), http.MethodPatch, "/v1/webhooks/"+s.ID, body, &changed); err != nil {
			t.Fatal(err)
		}
		return changed
	}
	authorizations := func() (values []string) {
		t.Helper()
		before := len(s.Requests())
		publish(t, c, "user.created")
		got := s.await(t, before+1)[before:]
		genuine(t, got)
		return got[0].Header["Authorization"]
	}
	move := func(server *receiver.Server) client.Endpoint {
		t.Helper()
		s.Inbox = server.Inbox("/" + unique("inbox"))
		s.verify(t, s.SigningSecret)
		return patch(about{"url": s.Inbox.URL})
	}
	want := []string{"Bearer s3cret"}
	patch(about{"headers": about{"Authorization": want[0]}})
	if got := authorizations(); !slices.Equal(want, got) {
		t.Errorf("delivered with %q", got)
	}
	if changed, got := move(server), authorizations(); !slices.Equal(want, got) || changed.HeadersDropped != nil {
		t.Errorf("at another path delivered with %q, dropped %q", got, changed.HeadersDropped)
	}
	changed, got := move(elsewhere), authorizations()
	if got != nil || changed.HeaderNames != nil || !slices.Equal(changed.HeadersDropped, []string{"Authorization"}) {
		t.Errorf("at another port delivered with %q, has %q, dropped %q", got, changed.HeaderNames, changed.HeadersDropped)
	}
}
