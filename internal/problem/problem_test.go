package problem_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/problem"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestEveryCodeHasItsGoldenDocument fails when a code's document changes in any byte: callers
// branch on them.
func TestEveryCodeHasItsGoldenDocument(t *testing.T) {
	golden, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if !*update && len(golden) != len(problem.Codes()) {
		t.Errorf("%d golden files for %d codes", len(golden), len(problem.Codes()))
	}
	for _, code := range problem.Codes() {
		t.Run(string(code), func(t *testing.T) {
			got := jsontext.Value(problem.New(code).Document("req-1"))
			if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", string(code)+".json")
			if *update {
				if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != string(got)+"\n" {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

func TestFieldsAreNamedByPointerOrParameter(t *testing.T) {
	e := &problem.Error{Code: problem.CodeValidationFailed, Detail: "No.", Fields: []problem.Field{
		{Pointer: "/events/0", Detail: "is not an event"}, {Pointer: "", Detail: "the whole"}, {Parameter: "limit", Detail: "must be 1 to 100"},
	}}
	const want = `{"type":"urn:herald:problem:validation_failed","title":"Not allowed","status":422,"detail":"No.","code":"validation_failed","request_id":"r",` +
		`"errors":[{"detail":"is not an event","pointer":"/events/0"},{"detail":"the whole","pointer":""},{"detail":"must be 1 to 100","parameter":"limit"}]}`
	if got := string(e.Document("r")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnUnknownFaultIsInternalAndItsTextIsWithheld(t *testing.T) {
	for name, err := range map[string]error{
		"plain error":  errors.New("table herald-prod-Endpoints: secret detail"),
		"unknown code": &problem.Error{Code: "made_up", Detail: "secret detail"},
	} {
		p := problem.From(err)
		if p.Code != problem.CodeInternal || strings.Contains(string(p.Document("r")), "secret detail") {
			t.Errorf("%s: %s", name, p.Document("r"))
		}
		if !errors.Is(p, err) {
			t.Errorf("%s: the cause is lost for the log", name)
		}
	}
	if problem.From(nil) != nil {
		t.Error("nil is a fault")
	}
}

func TestAFaultIsFoundThroughItsWrapping(t *testing.T) {
	cause := errors.New("throttled: internals")
	err := fmt.Errorf("loading endpoint: %w", problem.Because(problem.CodeUnavailable, cause))
	p := problem.From(err)
	if p.Code != problem.CodeUnavailable || !errors.Is(p, cause) {
		t.Errorf("From = %v", p)
	}
	if strings.Contains(string(p.Document("r")), "internals") {
		t.Errorf("the cause is shown: %s", p.Document("r"))
	}
}
