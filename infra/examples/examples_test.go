package examples_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/internal/event"
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
		if _, err := os.Stat("events/" + name + ".json"); err != nil {
			t.Error(err)
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

// The code that the documents show is the code that the tests run.
func TestTheDocumentsShowTheExamplesVerbatim(t *testing.T) {
	for _, shown := range []struct{ document, language, path string }{
		{"../../README.md", "go", "receiver/go/receiver.go"},
		{"../../README.md", "sh", "publisher/cli/publish.sh"},
	} {
		document, source := read(t, shown.document), read(t, shown.path)
		blocks := fencedBlocks(document)[shown.language]
		verbatim := slices.ContainsFunc(blocks, func(block string) bool {
			if strings.HasPrefix(shown.path, "publisher/") { // shown from below its imports or comments
				return strings.HasSuffix(source, block) && len(block) > 100
			}
			return block == source
		})
		if !verbatim {
			t.Errorf("no %s block of %s equals %s", shown.language, shown.document, shown.path)
		}
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

func fencedBlocks(markdown string) map[string][]string {
	blocks := map[string][]string{}
	language, block := "", ""
	for line := range strings.Lines(markdown) {
		fence, isFence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case isFence && language == "":
			language, block = fence, ""
		case isFence:
			blocks[language] = append(blocks[language], block)
			language = ""
		default:
			block += line
		}
	}
	return blocks
}
