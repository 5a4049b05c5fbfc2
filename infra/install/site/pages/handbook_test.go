package pages

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"testing"
)

const checkoutAt = "https://code.test/herald/v1"

// Whoever writes a document may link to anything of the checkout: the site has it, or leads to it.
func TestHandbook_hasAPageForEachDocument(t *testing.T) {
	root := sources().Root
	files, err := Handbook(root, checkoutAt)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := markdown(root)
	if err != nil || len(documents) < 50 {
		t.Fatalf("%d documents: %v", len(documents), err)
	}
	for _, document := range documents {
		name := pageOf(document)
		page, text := files[name+".html"], files[name+".md"]
		if page == nil || !bytes.Contains(page, []byte(`href="`+name+`.md"`)) {
			t.Errorf("%s has no page with its Markdown beside it", document)
		}
		if path.Dir(document) == "infra/docs" && !bytes.Contains(files["index.html"], []byte(`href="`+name+`.html"`)) {
			t.Errorf("the navigation does not lead to %s", document)
		}
		if left := regexp.MustCompile(`\]\(\.\.?/`).Find(text); left != nil {
			t.Errorf("%s.md leaves the site", name)
		}
	}
	if !bytes.Contains(files["site.css"], []byte("prefers-color-scheme: dark")) || files["herald.svg"] == nil {
		t.Error("it is not dark where that is wanted, or lacks the README's picture")
	}
}

func TestMoved(t *testing.T) {
	w := &site{Sources: sources(), files: map[string][]byte{}}
	names := map[string]string{"README.md": "index", "infra/docs/cost.md": "cost"}
	for text, want := range map[string]string{
		"[a](cost.md#figures) [b](#here)":                 "[a](cost.md#figures) [b](#here)",
		"[the\nreadme](../../README.md)":                  "[the\nreadme](index.md)",
		"[`code`](../../template.yaml)":                   "[`code`](" + checkoutAt + "/template.yaml)",
		"[f](../decisions)":                               "[f](" + checkoutAt + "/infra/decisions)",
		"[w](https://a.test/)":                            "[w](https://a.test/)",
		"`[c](d.md)` and\n```sh\n[e](f.md)\n```\n":        "`[c](d.md)` and\n```sh\n[e](f.md)\n```\n",
		"![A picture](images/herald.svg), [c](cost.md).)": "![A picture](herald.svg), [c](cost.md).)",
	} {
		if got := w.moved("infra/docs/design.md", text, names, checkoutAt); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if len(w.faults) != 0 || len(w.files["herald.svg"]) == 0 {
		t.Errorf("faults %v, %d bytes of the picture", w.faults, len(w.files["herald.svg"]))
	}
	w.moved("infra/docs/design.md", "[gone](gone.go)", names, checkoutAt)
	if len(w.faults) != 1 || !strings.Contains(w.faults[0].Error(), "gone.go") {
		t.Errorf("a link to nothing: %v", w.faults)
	}
}

func TestHandbook_refusesTwoDocumentsOfOneName(t *testing.T) {
	if pageOf(".github/SECURITY.md") == pageOf("infra/docs/security.md") {
		t.Error("one would replace the other")
	}
	if got := pageOf("infra/examples/outbox/README.md"); got != "outbox" {
		t.Errorf("a folder's README is %q", got)
	}
}
