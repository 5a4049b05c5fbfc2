package control

import (
	"log/slog"
	"testing"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, map[string]string{
		"ENDPOINTS_TABLE": "Endpoints", "ENDPOINT_HEALTH_TABLE": "EndpointHealth", "BACKLOG_TABLE": "Backlog",
	})
	var calls wiring.AWS
	h := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	put := health.Write{Kind: health.Put, Item: health.Item{EndpointID: "id", Version: 1}}
	calls.Check(t, func() error { _, _, err := h.Endpoints.Get(t.Context(), "t", "id"); return err }, "GetItem Endpoints")
	calls.Check(t, func() error { _, err := h.Endpoints.List(t.Context(), "t"); return err }, "Query Endpoints")
	calls.Check(t, func() error { _, err := h.Health.Get(t.Context(), "id"); return err }, "GetItem EndpointHealth")
	calls.Check(t, func() error { _, _, err := h.Health.Apply(t.Context(), put); return err }, "PutItem EndpointHealth")
	calls.Check(t, func() error { _, err := h.Backlog.Count(t.Context(), "id"); return err }, "Query Backlog")
}
