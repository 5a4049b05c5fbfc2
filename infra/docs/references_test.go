// Package docs_test checks the documents' links and the comments' citations, the width of their lines, and make
// on a machine without Go or Python.
package docs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const root = "../.."

// texts are the repository's own files that people read, by slash-separated path.
func texts(t *testing.T) map[string]string {
	t.Helper()
	kinds := []string{".go", ".md", ".yaml", ".yml", ".toml", ".py", ".sh", ".mjs"}
	skipped := []string{".git", ".venv", ".tools", ".local", ".aws-sam", "node_modules"}
	found := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		case !slices.Contains(kinds, path.Ext(d.Name())) && d.Name() != "Makefile":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		found[filepath.ToSlash(relative)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 100 {
		t.Fatalf("found %d files: is this the repository?", len(found))
	}
	return found
}

var (
	heading    = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	fenced     = regexp.MustCompile("(?ms)^```.*?^```$")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	anchorLoss = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// headings returns the headings of a Markdown text. Lines in code blocks do not count.
func headings(markdown string) []string {
	var found []string
	for _, match := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(markdown, ""), -1) {
		found = append(found, linkText.ReplaceAllString(match[1], "$1"))
	}
	return found
}

// anchors are the anchors that code hosts make of the headings.
func anchors(markdown string) []string {
	var found []string
	times := map[string]int{}
	for _, text := range headings(markdown) {
		anchor := strings.ReplaceAll(anchorLoss.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		if times[anchor]++; times[anchor] > 1 {
			anchor += fmt.Sprintf("-%d", times[anchor]-1)
		}
		found = append(found, anchor)
	}
	return found
}

var (
	// citation is a path from the root, and the heading where one is named.
	citation = regexp.MustCompile(`(?:^|[^\w./"~$-])` + // neither the rest of a path nor a string of code
		`((?:infra|internal|functions|\.github|\.ci)/[\w./-]+[\w])` +
		`(?:, "([^"]+)")?`)
	// pathless is a citation of a document that is not in the repository.
	pathless = regexp.MustCompile(`\((?:the )?(?:design|spec(?:ification)?), "`)
	// comment matches the text before a comment, and the comment.
	comment = regexp.MustCompile(`^(.*?)(?://|#) ?(.*)$`)
)

// prose is the text that a file addresses to people: the whole of a document, and the comments of any other file. A
// comment of several lines is one piece.
func prose(name, text string) string {
	if path.Ext(name) == ".md" {
		return strings.ReplaceAll(text, "\n", " ")
	}
	var said strings.Builder
	for line := range strings.Lines(text) {
		match := comment.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case match == nil:
			said.WriteString("\n")
		case strings.TrimSpace(match[1]) == "":
			said.WriteString(" " + match[2])
		default:
			said.WriteString("\n" + match[2])
		}
	}
	return said.String()
}

// dangling counts the citations in a text and says which of them are not there.
func dangling(all map[string]string, name, text string) (citations int, faults []string) {
	text = prose(name, text)
	found := citation.FindAllStringSubmatch(text, -1)
	for _, match := range found {
		file, title := match[1], match[2]
		if strings.HasSuffix(file, "/xyz") { // stands for any name
			continue
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			faults = append(faults, file+" does not exist")
		} else if title != "" && !slices.Contains(headings(all[file]), title) {
			faults = append(faults, fmt.Sprintf("%s has no heading %q", file, title))
		}
	}
	if cited := pathless.FindString(text); cited != "" {
		faults = append(faults, cited+"…) names no path")
	}
	return len(found), faults
}

func TestWhatCommentsAndDocumentsCiteExists(t *testing.T) {
	all := texts(t)
	citations := 0
	for name, text := range all {
		if strings.HasPrefix(name, "infra/docs/") && strings.HasSuffix(name, "_test.go") {
			continue // holds examples of faults
		}
		found, problems := dangling(all, name, text)
		citations += found
		for _, problem := range problems {
			t.Errorf("%s: %s", name, problem)
		}
	}
	if citations < 30 {
		t.Errorf("found %d citations: does the search still work?", citations)
	}
}

func TestDangling_findsEveryKindOfFault(t *testing.T) {
	all := map[string]string{"infra/docs/design.md": "# Design\n\n## Layers\n\n## Dead letters\n"}
	noFlow := []string{`infra/docs/design.md has no heading "Flow"`}
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"a heading that is there":       {`// x (infra/docs/design.md, "Layers").`, nil},
		"a citation across two lines":   {"// x (infra/docs/design.md,\n// \"Flow\").", noFlow},
		"a heading across two lines":    {"// x (infra/docs/design.md, \"Dead\n\t// letters\").", nil},
		"a heading that is not there":   {`// x (infra/docs/design.md, "Flow").`, noFlow},
		"a file that is not there":      {`// see infra/docs/gone.md`, []string{"infra/docs/gone.md does not exist"}},
		"a document without a path":     {`// x (spec, "Delivery").`, []string{`(spec, "…) names no path`}},
		"a path in code, not a comment": {`open("infra/docs/gone.md")`, nil},
	} {
		if _, got := dangling(all, "x.go", row.text); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// brokenLinks says which links of a document lead nowhere.
func brokenLinks(all map[string]string, name, text string) []string {
	var faults []string
	text = inlineCode.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		target, anchor, _ := strings.Cut(match[1], "#")
		switch {
		case strings.HasPrefix(target, "https://"):
			continue
		case strings.Contains(target, "://"):
			faults = append(faults, target+" is not https")
			continue
		}
		file := name
		if target != "" {
			file = path.Join(path.Dir(name), target)
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			faults = append(faults, match[1]+" does not exist")
		} else if anchor != "" && !slices.Contains(anchors(all[file]), anchor) {
			faults = append(faults, match[1]+" names no heading")
		}
	}
	return faults
}

func TestLinksLeadSomewhere(t *testing.T) {
	all := texts(t)
	for name, text := range all {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, problem := range brokenLinks(all, name, text) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func TestBrokenLinks_findsFileAndAnchor(t *testing.T) {
	all := map[string]string{"infra/docs/design.md": "# Design\n## Dead-letter states\n## `Code` & more\n"}
	text := "[a](design.md#dead-letter-states) [b](design.md#code--more) [c](../gone.md) [d](design.md#gone)\n" +
		"```\n[e](gone)\n```\n"
	want := []string{"../gone.md does not exist", "design.md#gone names no heading"}
	if got := brokenLinks(all, "infra/docs/x.md", text); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// codeRow is the row of a code in the reference.
var codeRow = regexp.MustCompile("\n\\| Code \\| `([a-z_]+)` \\| [^|\n]+ \\|")

// Scripts tell refusals by their codes.
func TestOperatorsReadEveryCode(t *testing.T) {
	all, constant := texts(t), regexp.MustCompile(`\b[cC]ode[A-Z]\w* +(?:Code )?= "([a-z_]+)"`)
	var defined, listed []string
	for name, text := range all {
		operators := regexp.MustCompile(`^internal/operators/`).MatchString(name)
		if !operators || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range constant.FindAllStringSubmatch(text, -1) {
			defined = append(defined, found[1])
		}
	}
	for _, found := range codeRow.FindAllStringSubmatch(all["infra/docs/operator-api.md"], -1) {
		listed = append(listed, found[1])
	}
	slices.Sort(defined)
	slices.Sort(listed)
	defined = slices.Compact(defined)
	if !slices.Equal(defined, listed) {
		t.Errorf("operator-api.md lists %v; the functions answer %v", listed, defined)
	}
}

// Tables and code are as long as they have to be.
func TestDocumentsAreWrapped(t *testing.T) {
	for name, text := range texts(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > 120 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s: a line has %d characters: %s", name, n, line)
			}
		}
	}
}

// A block without its language is shown without colours, and a command among words.
func TestBlocksOfCodeNameTheirLanguage(t *testing.T) {
	languages := strings.Fields("bash go hcl ini java js json jsonl mermaid php python ruby rust sh sql text ts xml yaml")
	block := regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")
	command := regexp.MustCompile(`^(\$ |(aws|curl|gh|go|herald|make|sam|terraform) )`)
	for name, text := range texts(t) {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			language, code := found[1], found[2]
			line, _, _ := strings.Cut(code, "\n")
			if !slices.Contains(languages, language) {
				t.Errorf("%s: the block %q is of %q", name, line, language)
			}
			if language == "text" && command.MatchString(code) {
				t.Errorf("%s: the command %q is marked as text: sh is what tests run, bash what they do not", name, line)
			}
			parts := []string{code}
			if language == "jsonl" {
				parts = strings.Split(strings.TrimSpace(code), "\n")
			}
			for _, part := range parts {
				if strings.HasPrefix(language, "json") && !json.Valid([]byte(part)) {
					t.Errorf("%s: %q is no JSON", name, part)
				}
			}
		}
	}
}
