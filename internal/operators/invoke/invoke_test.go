package invoke

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/cursor"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

type greetRequest struct {
	api.Page
	Name string   `json:"name"`
	IDs  []string `json:"ids"`
}

type greetAnswer struct {
	Greeting string `json:"greeting"`
}

func testFunction(log *bytes.Buffer) *Function {
	return &Function{
		Name: "greeter",
		Log:  slog.New(slog.NewJSONHandler(log, nil)),
		Now:  func() time.Time { return time.Unix(1_700_000_000, 0).In(time.FixedZone("", 3600)) },
		Actions: map[string]Action{
			"greet": typed(func(_ context.Context, call *Call, req greetRequest) (greetAnswer, error) {
				if _, err := Size(req.Limit); err != nil {
					return greetAnswer{}, err
				}
				if err := Required("name", req.Name); err != nil {
					return greetAnswer{}, err
				}
				call.Note(slog.String("delivery_id", req.Name))
				return greetAnswer{"hello " + req.Name + " from " + call.Operator}, nil
			}),
			"fail": typed(func(context.Context, *Call, struct{}) (struct{}, error) {
				return struct{}{}, errors.New("arn:aws:secret detail")
			}),
			"be late": typed(func(context.Context, *Call, struct{}) (struct{}, error) {
				return struct{}{}, fmt.Errorf("asking 10.0.0.1: %w", context.DeadlineExceeded)
			}),
			"panic":       typed(func(context.Context, *Call, struct{}) (struct{}, error) { panic("boom") }),
			"fail to say": typed(func(context.Context, *Call, struct{}) (float64, error) { return math.NaN(), nil }),
			"never":       typed(func(context.Context, *Call, struct{}) (time.Time, error) { return time.Time{}, nil }),
			"when":        typed(func(_ context.Context, call *Call, _ struct{}) (time.Time, error) { return call.Now, nil }),
		},
	}
}

// refused is the answer to a request at fault.
func refused(code, field, message string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":%q,"field":%q}}`, code, message, field)
}

func TestFunction_Invoke_answersEveryRequest(t *testing.T) {
	const (
		unknown   = "this action does not know the field; it knows action, cursor, ids, limit, name, operator"
		empty     = "is empty: leave it out"
		who       = "must say who asks, in 1 to 256 printable characters"
		malformed = "the request must be one well-formed JSON object"
	)
	for name, row := range map[string]struct{ in, want string }{
		"done": {
			`{"action":"greet","operator":"ann","name":"bob"}`, `{"greeting":"hello bob from ann"}`,
		},
		"the time in UTC": {`{"action":"when","operator":"ann"}`, `"2023-11-14T22:13:20Z"`},
		"no time":         {`{"action":"never","operator":"ann"}`, `null`},
		"an operator beyond ASCII": {
			`{"action":"greet","operator":"Zoë","name":"bob"}`, `{"greeting":"hello bob from Zoë"}`,
		},
		"an unknown field": {
			`{"action":"greet","operator":"ann","name":"bob","colour":1}`,
			refused("unknown_field", "colour", unknown),
		},
		"a field in the wrong case": {
			`{"action":"greet","operator":"ann","Name":"bob"}`, refused("unknown_field", "Name", unknown),
		},
		"a wrong type": {
			`{"action":"greet","operator":"ann","name":7}`, refused("invalid_field", "name", "wrong type"),
		},
		"a wrong type in a list": {
			`{"action":"greet","operator":"ann","ids":["a",7]}`, refused("invalid_field", "ids", "wrong type"),
		},
		"an operator of a wrong type": {
			`{"action":"greet","operator":7}`, refused("invalid_field", "operator", "wrong type"),
		},
		"an empty field": {
			`{"action":"greet","operator":"ann","name":""}`, refused("invalid_field", "name", empty),
		},
		"a field that is null": {
			`{"action":"greet","operator":"ann","name":"bob","cursor":null}`, refused("invalid_field", "cursor", empty),
		},
		"a missing field": {
			`{"action":"greet","operator":"ann"}`, refused("invalid_field", "name", "is required"),
		},
		"a tenant that no key can have": {
			`{"action":"greet","operator":"ann","tenant_id":"marks#acme"}`,
			refused("invalid_field", "tenant_id", event.TenantIDRule),
		},
		"a limit of 1.5": {
			`{"action":"greet","operator":"ann","limit":1.5}`, refused("invalid_field", "limit", "wrong type"),
		},
		"no operator": {
			`{"action":"greet","name":"bob"}`, refused("invalid_field", "operator", who),
		},
		"an unknown action": {
			`{"action":"shout","operator":"ann"}`,
			refused("unknown_action", "action", "must be one of be late, fail, fail to say, greet, never, panic, when"),
		},
		"a duplicate name": {
			`{"action":"greet","operator":"ann","name":"a","name":"b"}`,
			refused("invalid_json", "name", "the name appears twice"),
		},
		"half a surrogate pair": {
			`{"action":"greet","operator":"ann","name":"cut \ud83d"}`,
			refused("invalid_json", "name", "a surrogate without its other half at byte 47"),
		},
		"half a surrogate pair in a name": {
			`{"action":"greet","operator":"ann","\ud83d":1}`,
			refused("invalid_json", "", "a surrogate without its other half at byte 36"),
		},
		"nothing": {``, refused("invalid_json", "", malformed)},
		"null":    {`null`, refused("invalid_json", "", "the request must be a JSON object")},
		"a list":  {`[]`, refused("invalid_json", "", "the request must be a JSON object")},
		"two values": {
			`{"action":"greet","operator":"ann"}{}`, refused("invalid_json", "", malformed),
		},
		"bad UTF-8": {
			"{\"action\":\"greet\",\"operator\":\"\xff\"}", refused("invalid_json", "", malformed),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			got, err := testFunction(&log).Invoke(t.Context(), []byte(row.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, string(got)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if n := bytes.Count(log.Bytes(), []byte("\n")); n != 1 {
				t.Errorf("%d log lines, want 1", n)
			}
		})
	}
}

func TestFunction_report_saysWhoDidWhatToWhich(t *testing.T) {
	for name, row := range map[string]struct {
		in   string
		want map[string]any
	}{
		"an answer": {
			`{"action":"greet","operator":"ann","name":"bob"}`,
			map[string]any{"delivery_id": "bob", "outcome": "answered"},
		},
		"a refusal": {
			`{"action":"greet","operator":"ann"}`,
			map[string]any{"reason": "invalid_field", "field": "name", "outcome": "refused"},
		},
	} {
		var log bytes.Buffer
		if _, err := testFunction(&log).Invoke(t.Context(), []byte(row.in)); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(log.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "time") // slog's own
		maps.Copy(row.want, map[string]any{
			"level": "INFO", "msg": "operator", "function": "greeter", "action": "greet", "operator": "ann", "ms": 0.0,
		})
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("log line of %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFunction_Invoke_keepsTheDetailOfOurErrorsInTheLog(t *testing.T) {
	for action, row := range map[string]struct {
		detail string
		want   error
	}{
		"fail": {"arn:aws:secret detail", errInternal}, "panic": {"boom", errInternal}, "fail to say": {"NaN", errInternal},
		"be late": {"10.0.0.1", errLate},
	} {
		var log bytes.Buffer
		out, err := testFunction(&log).Invoke(t.Context(), []byte(`{"action":"`+action+`","operator":"ann"}`))
		if out != nil || err != row.want { //nolint:errorlint // returned as it is, so that nothing is added
			t.Errorf("%s: answered %s with error %v, want %v", action, out, err, row.want)
		}
		for _, want := range []string{row.detail, `"outcome":"failed"`, `"level":"ERROR"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: %s is not in the log %s", action, want, &log)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for _, limit := range []int{1, 7, 100} {
		if got, err := Size(&limit); err != nil || got != limit {
			t.Errorf("%d becomes %d, %v", limit, got, err)
		}
	}
	for _, limit := range []int{-1, 0, 101} {
		want := Refuse(api.CodeInvalidField, "limit", "must be 1 to 100")
		if _, err := Size(&limit); !cmp.Equal(want, err) {
			t.Errorf("%d is refused as %v, want %v", limit, err, want)
		}
	}
	if got, err := Size(nil); err != nil || got != 50 {
		t.Errorf("without a limit it is %d, %v", got, err)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, " ": false, "a": true, strings.Repeat("é", 256): true, strings.Repeat("a", 257): false, "a\nb": false,
	} {
		if got := printable(text); got != want {
			t.Errorf("%q is taken: %v, want %v", text, got, want)
		}
	}
}

func TestStart_takesCursorsOfItsListOnly(t *testing.T) {
	own := *NextCursor("endpoint webhook_1", "store cursor")
	for given, want := range map[string]string{own: "store cursor", "": ""} {
		if got, err := Start(given, "endpoint webhook_1"); got != want || err != nil {
			t.Errorf("%q starts at %q with error %v, want %q", given, got, err, want)
		}
	}
	for name, given := range map[string]string{"another list's": own, "garbage": "~~~", "a short one": "YQ"} {
		_, err := Start(given, "endpoint webhook_2")
		if !errors.Is(err, cursor.ErrInvalid) {
			t.Errorf("%s is refused with %v", name, err)
		}
	}
}

func TestIDs(t *testing.T) {
	for name, row := range map[string]struct {
		ids, want []string
		refused   bool
	}{
		"repeated ones": {[]string{"b", "a", "b"}, []string{"b", "a"}, false},
		"none":          {[]string{}, nil, true},
		"too many":      {[]string{"a", "b", "c", "d"}, nil, true},
		"an empty one":  {[]string{"a", ""}, nil, true},
	} {
		got, err := IDs("ids", row.ids, 3)
		var refusal *api.Refusal
		refused := errors.As(err, &refusal) && refusal.Code == api.CodeInvalidField && refusal.Field == "ids"
		if diff := cmp.Diff(row.want, got); diff != "" || refused != row.refused {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func FuzzInvoke(f *testing.F) {
	f.Add([]byte(`{"action":"greet","operator":"ann","name":"bob","limit":1,"cursor":"x"}`))
	f.Add([]byte(`{"action":"greet","operator":`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var log bytes.Buffer
		out, err := testFunction(&log).Invoke(t.Context(), payload)
		if err != nil && !failsOnPurpose(payload) {
			t.Errorf("%q: %v", payload, err)
		}
		if err == nil && !json.Valid(out) {
			t.Errorf("%q: answered %q", payload, out)
		}
	})
}

// failsOnPurpose tells whether a payload may name an action that fails, an escaped name included.
func failsOnPurpose(payload []byte) bool {
	return slices.ContainsFunc([]string{"fail", "panic", "late", `\u`}, func(s string) bool {
		return bytes.Contains(payload, []byte(s))
	})
}
