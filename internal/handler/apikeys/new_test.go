package apikeys

import (
	"log/slog"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_readsTheTableOfItsSettings(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{"API_KEYS_TABLE": "Keys"})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	calls.Check(t, func() error {
		_, _, err := h.Keys.Revoke(t.Context(), "tenant", "key", h.Now())
		return err
	}, "UpdateItem Keys")
}
