package deadletter

import (
	"log/slog"
	"testing"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"DEAD_LETTERS_TABLE": "DeadLetters", "DELIVERIES_TABLE": "Deliveries",
		"DEAD_LETTER_KEY_ARN": "key", "DEAD_LETTER_DAYS": "90",
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
		_, err := h.Vault.SealDeath(t.Context(), deadletter.Record{}, deadletter.Death{})
		return err
	}, "GenerateDataKey key")
}
