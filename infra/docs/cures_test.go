package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// A reason that sends a publisher to a part of publishing.md has to find it there.
func TestTheCuresOfRejectedEventsAreInPublishing(t *testing.T) {
	parts := anchors(readFile(t, "infra/docs/publishing.md"))
	samples, err := filepath.Glob(root + "/internal/rules/event/envelope/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	cited := map[string]bool{}
	for _, sample := range samples {
		body, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		_, err = event.Decode(body, "unused")
		if err == nil {
			t.Fatalf("%s is accepted", sample)
		}
		if match := regexp.MustCompile(`publishing\.md#(\S+)`).FindStringSubmatch(err.Error()); match != nil {
			cited[match[1]] = true
		}
	}
	for part := range cited {
		if !slices.Contains(parts, part) {
			t.Errorf("publishing.md has no part #%s", part)
		}
	}
	if len(cited) < 4 {
		t.Errorf("%d parts are cited: %v", len(cited), cited)
	}
}
