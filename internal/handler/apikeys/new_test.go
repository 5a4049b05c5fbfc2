package apikeys

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_readsTheTableOfItsSettings(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{"API_KEYS_TABLE": "Keys"})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	if _, _, err := h.Keys.Revoke(t.Context(), "tenant", "key", h.Now()); err == nil {
		t.Error("a refused call succeeds")
	}
	if diff := cmp.Diff([]string{"UpdateItem Keys"}, calls.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
