package deliver

import (
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// The world's secrets open as what is sealed, where they are headers.
func TestHandler_Process_sendsTheOwnersHeaders(t *testing.T) {
	in(t, status(204), func(w *world) {
		w.change("webhook_1", func(e *endpoint.Endpoint) {
			e.HeadersVersion, e.SealedHeaders = 2, []byte(endpoint.EncodeHeaders([]endpoint.Header{{Name: "X", Value: "y"}}))
		})
		w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2"))
		for _, p := range w.posts {
			mine := slices.Contains(p.Header, delivery.Field{Name: "X", Value: "y"})
			if mine != (p.URL == "https://receiver.example/webhook_1") || len(w.posts) != 2 {
				w.Errorf("%s got %v", p.URL, p.Header)
			}
		}
	})
}

func TestHandler_Process_sendsNothingWithoutHeadersThatItCannotRead(t *testing.T) {
	in(t, status(204), func(w *world) {
		w.change("webhook_1", func(e *endpoint.Endpoint) { e.HeadersVersion, e.SealedHeaders = 1, []byte("Host:x\n") })
		w.process(w.fresh("e1", "webhook_1"))
		if len(w.posts) > 0 || len(w.sent["Retry"]) != 1 || !w.logged(`fault=ours`) {
			w.Errorf("%d POSTs, sent %v", len(w.posts), w.sent)
		}
	})
}
