//go:build emulator

package replay_test

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

func TestHandler_Function_understandsTheRunbooksRequests(t *testing.T) {
	text, err := os.ReadFile("../../../infra/docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	functions := map[string]function{"inspect": w.inspect.Function(), "replay": w.replay.Function()}
	requests := regexp.MustCompile(`(?m)^(inspect|replay): (\{.*\})$`).FindAllSubmatch(text, -1)
	if len(requests) < 14 {
		t.Fatalf("found %d requests", len(requests))
	}
	known := []string{"not_found", "invalid_cursor"} // the runbook's ids and cursors are made up
	for _, r := range requests {
		out, err := functions[string(r[1])].Invoke(t.Context(), r[2])
		if err != nil {
			t.Errorf("%s: %v", r[0], err)
		}
		code := regexp.MustCompile(`"code":"(\w*)"`).FindSubmatch(out)
		if code != nil && !slices.Contains(known, string(code[1])) {
			t.Errorf("%s: %s", r[0], out)
		}
	}
}
