package examples_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

func TestEveryImplementedEventHasASampleTheServiceAccepts(t *testing.T) {
	files, err := os.ReadDir("events")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(event.Types()) {
		t.Errorf("%d samples of %d events", len(files), len(event.Types()))
	}
	for _, name := range event.Types() {
		sample, err := examples.Event(name, "tenant_1")
		if err != nil {
			t.Fatal(err)
		}
		body, err := sample.Body()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := event.Decode([]byte(body), "unused")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if decoded.OccurredAt.IsZero() {
			t.Errorf("%s does not say when it occurred", name)
		}
		complete := event.Event{
			ID: sample.ID, TenantID: "tenant_1", Type: name, OccurredAt: decoded.OccurredAt, Data: sample.Data,
		}
		if diff := cmp.Diff(complete, decoded); diff != "" {
			t.Errorf("%s decoded (-want +got):\n%s", name, diff)
		}
		if got := string(decoded.Payload()); got != sample.Payload() {
			t.Errorf("%s: payload\n%s\nwant\n%s", name, got, sample.Payload())
		}
	}
}

// The README shows the same command that the tests run, without the comments above it.
func TestTheREADMEShowsTheCommandVerbatim(t *testing.T) {
	_, command, _ := strings.Cut(read(t, "publisher/cli/publish.sh"), "\nEVENTS_QUEUE_URL=")
	block := "```sh\nEVENTS_QUEUE_URL=" + command + "```\n"
	if !strings.Contains(read(t, "../../README.md"), block) {
		t.Errorf("the README does not show this block:\n%s", block)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
