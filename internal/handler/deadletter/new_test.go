package deadletter

import (
	"log/slog"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"DEAD_LETTERS_TABLE": "DeadLetters", "DELIVERIES_TABLE": "Deliveries",
		"DEAD_LETTER_KEY_ARN": "key", "DEAD_LETTER_DAYS": "90",
		"ENDPOINT_HEALTH_TABLE": "EndpointHealth", "NOTICES": "on",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	calls.Check(t, func() error {
		_, err := h.States.Update(t.Context(), delivery.Record{})
		return err
	}, "PutItem Deliveries")
	calls.Check(t, func() error {
		_, err := h.Store.Create(t.Context(), deadletter.Record{
			Sealed: deadletter.Sealed{History: []deadletter.SealedEntry{{}}},
		})
		return err
	}, "UpdateItem DeadLetters")
	calls.Check(t, func() error {
		return h.Notices.MarkDeath(t.Context(), dynamo.EndpointKey{}, circuit.Spell{}, time.Time{})
	}, "UpdateItem EndpointHealth")
	s.Notices = false
	if off := New(Config{Settings: s, AWS: calls.Config()}); off.Notices != nil {
		t.Error("deaths are noted although notices are off")
	}
	calls.Check(t, func() error {
		_, err := h.Vault.SealDeath(t.Context(), deadletter.Record{}, deadletter.Death{})
		return err
	}, "GenerateDataKey key")
}
