package testkit

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
)

// Runbook makes the requests of the operators' runbook to a function, one after the other, about webhook_1. The
// function must understand each: other ids and the cursors are made up, and may be refused.
func Runbook(t *testing.T, function string, f lambda.Handler) {
	t.Helper()
	text, err := os.ReadFile("../../../infra/docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	requests := regexp.MustCompile(`(?m)^`+function+`: (\{.*\})$`).FindAllStringSubmatch(string(text), -1)
	if len(requests) == 0 {
		t.Fatalf("the runbook has no request to %s", function)
	}
	code := regexp.MustCompile(`"code":"(\w*)"`)
	for _, r := range requests {
		out, err := f.Invoke(t.Context(), []byte(strings.ReplaceAll(r[1], "webhook_…", "webhook_1")))
		refused := code.FindStringSubmatch(string(out))
		if err != nil || refused != nil && !slices.Contains([]string{"not_found", "invalid_cursor"}, refused[1]) {
			t.Errorf("%s: %s, %v", r[1], out, err)
		}
	}
}
