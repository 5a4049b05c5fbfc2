package deadletter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStatus_Valid(t *testing.T) {
	for s, want := range map[Status]bool{Dead: true, Replaying: true, Replayed: true, "": false, "acknowledged": false} {
		if got := s.Valid(); got != want {
			t.Errorf("%q is valid: %v, want %v", s, got, want)
		}
	}
}

// An operator function runs for a minute at most; infra/template holds the template to that.
func TestStaleClaim_outlivesAnyReplay(t *testing.T) {
	if StaleClaim != 120*time.Second {
		t.Errorf("%s, want two minutes", StaleClaim)
	}
}

func TestBinding_Context(t *testing.T) {
	for name, row := range map[string]struct {
		b    Binding
		want map[string]string
	}{
		"a delivery": {
			testBinding,
			map[string]string{
				"purpose": "dead-letter", "tenant_id": "acme", "endpoint_id": "webhook_1", "delivery_id": "msg_1",
			},
		},
		"a message that could not be read": {
			Binding{DeliveryID: UnreadablePrefix + "1"},
			map[string]string{"purpose": "dead-letter", "delivery_id": "unreadable_1"},
		},
	} {
		if diff := cmp.Diff(row.want, row.b.Context()); diff != "" {
			t.Errorf("encryption context of %s (-want +got):\n%s", name, diff)
		}
	}
}
