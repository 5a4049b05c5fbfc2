package movein

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// imports has the function webhooks create the endpoints of some lines, and fails the test for each that it refuses.
func imports(t testing.TB, lines []byte) {
	t.Helper()
	p := model.New().Process("webhooks")
	h := &webhooks.Handler{
		Endpoints: p.Endpoints(), Secrets: sealing.Secrets(), URLs: rules("").URLs, Audit: p.Audit(),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Random: rand.Float64, Bounds: rules("").Bounds,
	}
	for text := range bytes.Lines(lines) {
		request, err := api.ImportEndpoints.Encode("ann", api.ImportRequest{Endpoints: []jsontext.Value{text}})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		answer, err := h.Invoke(t.Context(), request)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, err := api.ImportEndpoints.Decode(answer)
		if err != nil || len(got.Data) != 1 || got.Data[0].Result != api.ResultCreated {
			t.Errorf("%q: %s, %v", text, answer, err)
		}
	}
}
