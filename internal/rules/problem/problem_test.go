package problem_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/problem"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A code's document is the same in every byte: callers branch on it. It never shows a cause.
func TestError_Document_ofEveryCode(t *testing.T) {
	const path = "testdata/documents.json"
	var got strings.Builder
	for _, code := range problem.Codes() {
		got.WriteString(document(t, problem.Because(code, errCause)) + "\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

// document has the members of a problem that a program reads, except its type and title.
func document(t *testing.T, e *problem.Error) string {
	t.Helper()
	got := jsontext.Value(e.Document("r"))
	if err := got.Indent(jsontext.WithIndent(" ")); err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestError_Document_namesPlaces(t *testing.T) {
	const head = `{
 "type": "urn:herald:problem:validation_failed",
 "title": "Not allowed",
 "status": 422,
 "detail": "%s",
 "code": "validation_failed",
 "request_id": "r",
 "errors": [
  %s
 ]
}`
	const meaning = "The body is well-formed, but what it asks for is not allowed."
	for name, row := range map[string]struct {
		fault          *problem.Error
		detail, errors string
	}{
		"a field of the body": {
			problem.At(problem.CodeValidationFailed, "/events/0", "is not an event"),
			meaning, "{\n   \"detail\": \"is not an event\",\n   \"pointer\": \"/events/0\"\n  }",
		},
		"the whole body": {
			problem.At(problem.CodeValidationFailed, "", "is empty"),
			meaning, "{\n   \"detail\": \"is empty\",\n   \"pointer\": \"\"\n  }",
		},
		"a detail of its own, and a query parameter": {
			&problem.Error{
				Code: problem.CodeValidationFailed, Detail: "No.",
				Fields: []problem.Field{{Parameter: "limit", Detail: "is bad"}},
			},
			"No.", "{\n   \"detail\": \"is bad\",\n   \"parameter\": \"limit\"\n  }",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(fmt.Sprintf(head, row.detail, row.errors), document(t, row.fault)); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

// A caller's broken UTF-8 may be part of a pointer: it must not cost the answer.
func TestError_Document_survivesBrokenUTF8(t *testing.T) {
	got := document(t, problem.At(problem.CodeInvalidBody, "/\xff", "does not exist here"))
	if want := "\"pointer\": \"/\ufffd\""; !strings.Contains(got, want) {
		t.Errorf("document %s, want it to hold %s", got, want)
	}
}

var errCause = errors.New("table herald-prod-Endpoints: secret detail")

func TestError_Error(t *testing.T) {
	for want, e := range map[string]*problem.Error{
		"conflict": problem.New(problem.CodeConflict),
		"unavailable: table herald-prod-Endpoints: secret detail": problem.Because(problem.CodeUnavailable, errCause),
	} {
		if diff := cmp.Diff(want, e.Error()); diff != "" {
			t.Errorf("text for the log (-want +got):\n%s", diff)
		}
		if got := errors.Is(e, errCause); got != (e.Cause != nil) {
			t.Errorf("%s: the cause is found: %v", want, got)
		}
	}
}
