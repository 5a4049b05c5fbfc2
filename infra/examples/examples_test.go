package examples_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/internal/event"
)

func TestEveryImplementedEventHasASampleTheServiceAccepts(t *testing.T) {
	have, err := examples.Types()
	if err != nil {
		t.Fatal(err)
	}
	want := event.Types()
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Fatalf("samples: %v\nimplemented: %v", have, want)
	}
	for _, name := range want {
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
		if decoded.Type != name || decoded.TenantID != "tenant_1" || decoded.ID != sample.ID || decoded.OccurredAt.IsZero() {
			t.Errorf("%s decoded as %+v", name, decoded)
		}
		if got := string(decoded.Payload()); got != sample.Payload() {
			t.Errorf("%s: payload\n%s\nwant\n%s", name, got, sample.Payload())
		}
	}
}

// The README's code is the code the tests run.
func TestREADMEShowsTheExamplesVerbatim(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := fencedBlocks(string(readme))
	for _, file := range []struct{ path, language string }{
		{"receiver/go/receiver.go", "go"},
		{"receiver/node/receiver.mjs", "js"},
		{"receiver/python/receiver.py", "python"},
		{"publisher/go/publish.go", "go"},
		{"publisher/cli/publish.sh", "sh"},
	} {
		source, err := os.ReadFile(file.path)
		if err != nil {
			t.Fatal(err)
		}
		shown := slices.ContainsFunc(blocks[file.language], func(block string) bool {
			if strings.HasPrefix(file.path, "publisher/") { // shown from below its imports or comments
				return strings.HasSuffix(string(source), block) && len(block) > 100
			}
			return block == string(source)
		})
		if !shown {
			t.Errorf("no %s block of README.md equals %s", file.language, file.path)
		}
	}
	if lines := strings.Count(string(readme), "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, more than 150", lines)
	}
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
