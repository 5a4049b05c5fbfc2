//go:build emulator

package e2e

import (
	"net/http"
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
			s, receiver := subscribePublished(t, c, server, language, "*")
			types := event.Types()[:3]
			want := map[published.Work]int{}
			for _, name := range types {
				m := publish(t, c, name)
				want[published.Work{Event: name, Body: m.Payload()}] = 1
			}
			got := s.await(t, len(types))
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
