package pages

import (
	"strings"
	"testing"
)

func TestAsHTML_hasTheAnchorsThatCodeHostsHave(t *testing.T) {
	html, err := asHTML("# A `snake_case` & more\n\n## Größe, again\n\n## Größe, again\n\n## ✓\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`id="a-snake_case--more"`, `id="größe-again"`, `id="größe-again-1"`, `id="section"`,
	} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no heading has %s:\n%s", want, html)
		}
	}
}
