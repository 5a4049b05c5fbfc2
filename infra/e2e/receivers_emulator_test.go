//go:build emulator

package e2e

import (
	"net/http"
	"net/http/httputil"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/internal/published"
	"github.com/herald-webhooks/herald/internal/event"
)

// TestThePublishedReceiversTakeRealDeliveries sends a few events to the receivers of all languages.
// What else they are sent is in infra/internal/published.
func TestThePublishedReceiversTakeRealDeliveries(t *testing.T) {
	t.Parallel()
	for _, language := range published.Languages() {
		t.Run(language.Name, func(t *testing.T) {
			t.Parallel()
			c := tenant(t)
			inbox := server.Inbox("/" + unique("inbox"))
			endpoint, err := c.CreateEndpoint(t.Context(), inbox.URL, "*")
			if err != nil {
				t.Fatal(err)
			}
			place := published.Place{Root: root, Scratch: t.TempDir()}
			receiver, err := language.Start(t.Context(), place, endpoint.SigningSecret)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(receiver.Close)
			// The inbox ends TLS, as a load balancer does, and passes the bytes on.
			if err := inbox.Verify(endpoint.SigningSecret, httputil.NewSingleHostReverseProxy(receiver.URL)); err != nil {
				t.Fatal(err)
			}
			types := event.Types()[:3]
			want := map[published.Work]int{}
			for _, name := range types {
				m := publish(t, c, name)
				want[published.Work{Event: name, Body: m.Payload()}] = 1
			}
			got := subscription{endpoint, inbox}.await(t, len(types))
			genuine(t, got)
			for _, r := range got {
				if r.Status != http.StatusOK {
					t.Errorf("%s was answered %d", r.Event, r.Status)
				}
			}
			processed := map[published.Work]int{}
			for _, w := range receiver.Done() {
				processed[w]++
			}
			if diff := cmp.Diff(want, processed); diff != "" {
				t.Errorf("processed (-want +got):\n%s\nit printed:\n%s", diff, receiver.Printed())
			}
		})
	}
}
