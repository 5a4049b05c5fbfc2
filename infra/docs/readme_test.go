package docs_test

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheREADMESaysWhatANewcomerAsks(t *testing.T) {
	readme := readFile(t, filepath.Join(root, "README.md"))
	for _, want := range []string{
		"Try it", "How it compares", "When not to use Herald", "Publish an event", "Receive deliveries",
		"Delivery contract", "Deploy", "License",
	} {
		if !slices.Contains(headings(readme), want) {
			t.Errorf("README.md has no heading %q", want)
		}
	}
	var targets []string
	for _, match := range link.FindAllStringSubmatch(readme, -1) {
		targets = append(targets, match[1])
	}
	for _, want := range []string{
		"LICENSE", "infra/docs/faq.md", "infra/docs/deploy.md#production-in-one-command", "infra/docs/local-stack.md",
		"infra/docs/publishing.md", "infra/docs/receivers.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md",
	} {
		if !slices.Contains(targets, want) {
			t.Errorf("README.md does not link to %s", want)
		}
	}
	// What the README calls the license is what the file is.
	license := readFile(t, filepath.Join(root, "LICENSE"))
	if !strings.Contains(readme, "\n[Apache License 2.0](LICENSE)\n") ||
		!strings.Contains(license, "Apache License\n                           Version 2.0, January 2004") {
		t.Error("README.md and LICENSE do not name the same license")
	}
}

// Tables and code are as long as they have to be.
func TestDocumentsAreWrapped(t *testing.T) {
	found := 0
	for name, text := range texts(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		found++
		for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > 120 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s: a line has %d characters: %s", name, n, line)
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d documents: is this the repository?", found)
	}
}
