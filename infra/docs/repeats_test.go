package docs_test

import (
	"path"
	"strings"
	"testing"
)

// Two changes of one passage, put together, may leave both forms of it.
func TestNoDocumentSaysTheSameTwice(t *testing.T) {
	for name, text := range texts(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		if twice := repeated(text); twice != "" {
			t.Errorf("%s says twice: %s", name, twice)
		}
	}
}

func TestRepeated_findsWordsOfProseAlone(t *testing.T) {
	words := "One two three four five six seven eight nine ten eleven twelve.\n"
	for text, want := range map[string]string{
		words + "Then\n" + strings.ReplaceAll(words, " five", "\nfive"): strings.TrimSpace(words),
		words + "```sh\n" + words + "```\n":                             "",
		words + "| " + words:                                            "",
		words + strings.Replace(words, "six", "6", 1):                   "",
	} {
		if got := repeated(text); got != want {
			t.Errorf("repeated(%q) = %q, want %q", text, got, want)
		}
	}
}

// repeated is the first run of twelve words that a document has twice, apart from code and tables; "" without one.
func repeated(text string) string {
	const run = 12
	var words []string
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		if !strings.HasPrefix(line, "|") {
			words = append(words, strings.Fields(line)...)
		}
	}
	seen := map[string]bool{}
	for end := run; end <= len(words); end++ {
		said := strings.Join(words[end-run:end], " ")
		if seen[said] {
			return said
		}
		seen[said] = true
	}
	return ""
}
