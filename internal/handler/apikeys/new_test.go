package apikeys

import (
	"log/slog"
	"testing"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_readsTheTableOfItsSettings(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{"API_KEYS_TABLE": "Keys", "AUDIT_LOG_GROUP": "Audit"})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	calls.Check(t, func() error {
		_, _, err := h.Keys.Revoke(t.Context(), "tenant", "key", h.Now())
		return err
	}, "UpdateItem Keys")
	calls.Check(t, func() error {
		return h.Audit.Write(t.Context(), audit.Line{Action: "test"})
	}, "PutLogEvents Audit", "PutLogEvents apikeys")
}
