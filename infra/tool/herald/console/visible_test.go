package console

import (
	std "cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// unseen are characters with which one name passes for another: marks that reorder or join, blanks, fillers, tags.
var unseen = []rune{
	'\u202e', '\u2066', '\u200f', '\u061c', '\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u034f', '\u115f', '\u3164',
	'\uffa0', '\u2800', '\u00a0', '\u2003', '\u3000', '\u180e', '\x1b', '\x7f', '\u0085', '\U000e0041', '\u2028',
}

// Each such character is shown as JSON writes it, in every text and tip. Fields of forms and addresses keep it: what a
// question is about is what is done.
//
// Threat of a page: unseen or reordering characters, or those that steer a terminal. Held by: shown as JSON writes
// them, or as �.
func TestPages_showWhatIsNotSeen(t *testing.T) {
	name := "crm"
	var escaped []string
	for _, r := range unseen {
		name += string(r) + "x"
		escaped = append(escaped, answers.Escape(r)+"x")
	}
	web, browser, s := open(t, &functions{written: name})
	shown := 0
	for path := range s.views() {
		page := body(t, get(t, browser, web.URL+std.Or(queries[path], path)))
		for _, text := range textsOf(t, page) {
			if strings.Contains(text, "crm"+strings.Join(escaped, "")) {
				shown++
			}
			if at := strings.IndexAny(text, string(unseen)); at >= 0 {
				t.Errorf("%s hides %q", path, text[at:])
			}
		}
	}
	if shown < 20 {
		t.Errorf("shown %d times", shown)
	}
	page := body(t, get(t, browser, web.URL+"/confirm?act=purge&reason="+url.QueryEscape(name)))
	if got := hidden(page).Get("reason"); got != name {
		t.Errorf("a question about %q is answered about %q", name, got)
	}
}

// textsOf are the texts of a page that a person reads or hears.
func textsOf(t *testing.T, page string) (texts []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			texts = append(texts, n.Data)
		}
		for _, a := range n.Attr {
			if slices.Contains([]string{"title", "aria-label"}, a.Key) {
				texts = append(texts, a.Val)
			}
		}
	}
	return texts
}

// Scripts of the world, and emoji, stay as they are.
func TestVisible_leavesWhatIsSeen(t *testing.T) {
	for _, text := range []string{
		"zażółć", "日本語", "עברית", "हिन्दी", "e\u0301", "❤\ufe0f", "a\tb\nc\r\n", "\ufffd", `<p title="a > b" class='"'>é</p>`,
	} {
		if got := visible(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	const in, want = "<a href=\"\u200b\" title='\u200b>'>\u200b</a><input value=\"\u200b\">",
		`<a href="` + "\u200b" + `" title='\u200b>'>\u200b</a><input value="` + "\u200b" + `">`
	if got := visible(in); got != want {
		t.Errorf("%q is shown as %q", in, got)
	}
}

// Whatever the text, the page keeps its tags, and looking at it twice changes nothing.
func TestVisible_keepsTheTagsOfAPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		escaped := html.EscapeString(rapid.String().Draw(t, "text"))
		page := fmt.Sprintf(`<p title="%s">%s</p>`, escaped, escaped)
		once := visible(page)
		if again := visible(once); again != once {
			t.Fatalf("%q, then %q", once, again)
		}
		if strings.Count(once, "<") != 2 || strings.Count(once, ">") != 2 || strings.ContainsFunc(once, func(r rune) bool {
			return !answers.Seen(r) && !strings.ContainsRune("\t\n\r", r)
		}) {
			t.Fatalf("%q of %q", once, page)
		}
	})
}
