package movein

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
		request, err := json.Marshal(map[string]any{
			"action": "import", "operator": "ann", "endpoints": []jsontext.Value{text},
		})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		answer, err := h.Invoke(t.Context(), request)
		var got struct {
			Data []struct {
				Result string `json:"result"`
			} `json:"data"`
		}
		if err == nil {
			err = json.Unmarshal(answer, &got)
		}
		if err != nil || fmt.Sprint(got.Data) != "[{created}]" {
			t.Errorf("%q: %s, %v", text, answer, err)
		}
	}
}
