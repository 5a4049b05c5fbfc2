package deadletter

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestStatus_Valid(t *testing.T) {
	for s, want := range map[Status]bool{Dead: true, Replaying: true, Replayed: true, "": false, "acknowledged": false} {
		if got := s.Valid(); got != want {
			t.Errorf("%q is valid: %v, want %v", s, got, want)
		}
	}
}

// The context shows in CloudTrail in clear: ids only.
func TestBinding_Context(t *testing.T) {
	unreadable := Record{Ref: delivery.Ref{DeliveryID: UnreadablePrefix + "1"}, Reason: delivery.ReasonUnreadable}
	for name, row := range map[string]struct {
		r    Record
		want map[string]string
	}{
		"a delivery": {
			testRecord,
			map[string]string{
				"purpose": "dead-letter", "tenant_id": "acme", "endpoint_id": "webhook_1", "delivery_id": "msg_1",
			},
		},
		"a message that could not be read": {
			unreadable, map[string]string{"purpose": "dead-letter", "delivery_id": "unreadable_1"},
		},
	} {
		if diff := cmp.Diff(row.want, row.r.Binding(1, row.r.Reason).Context()); diff != "" {
			t.Errorf("encryption context of %s (-want +got):\n%s", name, diff)
		}
	}
}
