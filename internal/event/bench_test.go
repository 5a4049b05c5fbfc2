package event_test

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/event"
)

func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"id":"evt_1","tenant_id":"tenant_bench","occurred_at":"2026-01-02T03:04:05Z","type":"user.updated",` +
		`"data":{"userId":"user_2c9WZ1","note":"` + strings.Repeat("x", 430) + `"}}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := event.Decode(body, "id"); err != nil {
			b.Fatal(err)
		}
	}
}
