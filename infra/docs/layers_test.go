package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// enforced are the packages below internal that depguard holds to a layer.
func enforced(t *testing.T, layer string) []string {
	t.Helper()
	_, rule, found := strings.Cut(readFile(t, "../../.golangci.yml"), "\n        "+layer+":")
	rule, _, _ = strings.Cut(rule, "\n          allow:")
	rule, _, _ = strings.Cut(rule, "\n          deny:")
	var packages []string
	for _, match := range regexp.MustCompile(`"\*\*/internal/(\w+)/\*\.go"`).FindAllStringSubmatch(rule, -1) {
		packages = append(packages, match[1])
	}
	if !found || len(packages) == 0 {
		t.Fatalf(".golangci.yml has no rule %s", layer)
	}
	return sortedSet(packages)
}

// named are the packages in backquotes in the one line that starts so.
func named(t *testing.T, document, start string) []string {
	t.Helper()
	for line := range strings.Lines(readFile(t, document)) {
		if rest, ok := strings.CutPrefix(line, start); ok {
			var packages []string
			for _, match := range quoted.FindAllStringSubmatch(rest, -1) {
				packages = append(packages, match[1])
			}
			return packages
		}
	}
	t.Fatalf("%s has no line that starts with %q", document, start)
	return nil
}

func TestTheDocumentedLayersAreTheEnforced(t *testing.T) {
	for _, layer := range []string{"edges", "field"} {
		want := enforced(t, layer)
		if got := named(t, "design.md", "| "+layer+" |"); !slices.Equal(got, want) {
			t.Errorf("design.md has the %s %v, .golangci.yml %v", layer, got, want)
		}
		if got := named(t, "../../README.md", "| `internal/` "+layer+" |"); !slices.Equal(got, want) {
			t.Errorf("README.md has the %s %v, .golangci.yml %v", layer, got, want)
		}
	}
}

func TestEveryFolderOfInfraIsExplained(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	readme := readFile(t, "../README.md")
	for _, e := range entries {
		lines := strings.Count(readme, "\n| [`"+e.Name()+"`]("+e.Name()+") |")
		if e.IsDir() && lines != 1 {
			t.Errorf("infra/README.md has %d lines for %s, want 1", lines, e.Name())
		}
	}
}
