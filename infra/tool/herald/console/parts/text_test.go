package parts

import (
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

func TestPretty_changesNothingButSpace(t *testing.T) {
	if got := Pretty([]any{answers.Row{"b": 1.0}}); got != "[\n  {\n    \"b\": 1\n  }\n]" {
		t.Errorf("a list is shown as %s", got)
	}
	for in, want := range map[string]string{
		`{"b":"<i>","a":12345678901234567890}`: "{\n  \"b\": \"<i>\",\n  \"a\": 12345678901234567890\n}", "not {": "not {",
	} {
		if got := Pretty(in); got != want {
			t.Errorf("%s is shown as %s", in, got)
		}
	}
}
