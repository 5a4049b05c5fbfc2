package inspect_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/operators/apikeys"
	"github.com/herald-webhooks/herald/internal/operators/control"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// withoutStores are the operator functions without anything behind them: a request that is not refused at once fails.
func withoutStores() map[string]lambda.Handler {
	log := slog.New(slog.DiscardHandler)
	return map[string]lambda.Handler{
		"apikeys":  (&apikeys.Handler{Log: log, Now: time.Now}).Function(),
		"control":  (&control.Handler{Log: log, Now: time.Now}).Function(),
		"inspect":  (&inspect.Handler{Log: log, Now: time.Now}).Function(),
		"replay":   (&replay.Handler{Log: log, Now: time.Now}).Function(),
		"webhooks": &webhooks.Handler{Log: log, Now: time.Now},
	}
}

// told is the end of a refusal behind the last of the words, as a list.
func told(t *testing.T, answer, words string) []string {
	t.Helper()
	var refused struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &refused); err != nil {
		t.Fatalf("answered %s: %v", answer, err)
	}
	_, list, ok := strings.Cut(refused.Error.Message, words)
	if !ok {
		t.Fatalf("answered %s", answer)
	}
	return strings.Split(list, ", ")
}

// The functions themselves say which actions and fields they know, so that a new one is tried without a change here.
//
// Threat of an operator: breaks lists or logs with a long text. Held by: every string of a request is bounded.
func TestEveryStringOfARequestIsBounded(t *testing.T) {
	longest, fields := strings.Repeat("x", 380_000), 0
	for name, f := range withoutStores() {
		for _, action := range told(t, testkit.Ask(t, f, "none", ""), "must be one of ") {
			for _, field := range told(t, testkit.Ask(t, f, action, `"none":1`), "it knows ") {
				if field == "action" || field == "operator" {
					continue
				}
				fields++
				long := longest[:10_000]
				if field == "event" {
					long = longest // the one field that may be longer, as it was published
				}
				for _, value := range []string{
					`"%s"`, `["%s"]`, `[["a","%s"]]`, `{"a":"%s"}`, `{"%s":"a"}`, `[{"tenant_id":"%s"}]`, `[{"a":{"b":["%s"]}}]`,
				} {
					given := fmt.Sprintf(value, long)
					answer := testkit.Ask(t, f, action, fmt.Sprintf("%q:%s", field, given))
					refused := strings.HasPrefix(answer, `{"error":`) && testkit.Refusal(t, answer) == "invalid_field "+field
					if !refused || len(answer) > 1000 {
						t.Errorf("%s %s: %s of %s: %d bytes, %.100s", name, action, field, value, len(answer), answer)
					}
				}
			}
		}
	}
	if fields < 70 {
		t.Errorf("tried %d fields", fields)
	}
}

// Nor is a long name of a field answered or logged.
func TestEveryNameOfARequestIsBounded(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for name, f := range withoutStores() {
		for _, action := range told(t, testkit.Ask(t, f, "none", ""), "must be one of ") {
			for _, fields := range []string{`%q:1`, `"limit":1,%q:1`, `%[1]q:1,%[1]q:1`} {
				if answer := testkit.Ask(t, f, action, fmt.Sprintf(fields, long)); len(answer) > 1000 {
					t.Errorf("%s %s: %d bytes, %.100s", name, action, len(answer), answer)
				}
			}
		}
	}
}
