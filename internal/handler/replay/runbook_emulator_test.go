//go:build emulator

package replay_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"
)

// The requests of the runbook are made one after the other, as they stand in it. Its ids of
// deliveries and messages are made up; its tenant and its endpoint exist, so that whatever is
// asked of control is done.
func TestHandler_Function_understandsTheRunbooksRequests(t *testing.T) {
	text, err := os.ReadFile("../../../infra/docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("webhook_…"), []byte("webhook_1"))
	w := newWorld(t)
	functions := map[string]function{
		"inspect": w.inspect.Function(), "replay": w.replay.Function(), "control": w.control.Function(),
	}
	requests := regexp.MustCompile(`(?m)^(inspect|replay|control): (\{.*\})$`).FindAllSubmatch(text, -1)
	if len(requests) < 26 {
		t.Fatalf("found %d requests", len(requests))
	}
	known := []string{"not_found", "invalid_cursor"} // the runbook's ids and cursors are made up
	for _, r := range requests {
		name := string(r[1])
		out, err := functions[name].Invoke(t.Context(), r[2])
		if err != nil {
			t.Errorf("%s: %v", r[0], err)
		}
		code := regexp.MustCompile(`"code":"(\w*)"`).FindSubmatch(out)
		if code != nil && (name == "control" || !slices.Contains(known, string(code[1]))) {
			t.Errorf("%s: %s", r[0], out)
		}
	}
}
