package pages

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func sources() Sources {
	return Sources{Root: "../../../..", Description: "../../../openapi.yaml", Types: catalogue.Types()}
}

// Tenants read on the list and on the type's own page what they should use in place of a deprecated type.
func TestMake_marksDeprecatedTypes(t *testing.T) {
	s := sources()
	s.Types[1].Deprecated = true
	s.Types[2].Deprecated, s.Types[2].ReplacedBy = true, s.Types[0].Name
	files, err := Make(s, Settings{Name: "Acme", API: "https://api.acme.test", Companions: delivery.CompanionsNone})
	if err != nil {
		t.Fatal(err)
	}
	instead := fmt.Sprintf("**Deprecated**: use [%s](event-%[1]s.md) instead.", escaped(s.Types[0].Name))
	for file, want := range map[string][]int{
		"events.md": {1, 1}, "event-" + s.Types[0].Name + ".md": {0, 0},
		"event-" + s.Types[1].Name + ".md": {1, 0}, "event-" + s.Types[2].Name + ".md": {0, 1},
	} {
		got := []int{bytes.Count(files[file], []byte("**Deprecated**: do not build on it.")),
			bytes.Count(files[file], []byte(instead))}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %d marks without and with a successor, want %d:\n%s", file, got, want, files[file])
		}
	}
}

// The first page's requests are accepted, whatever types the provider has.
func TestMake_beginsWithATypeOfTheProvider(t *testing.T) {
	for kept, want := range map[int][]string{
		0: {`"events":["user.*"]`, `{"type":"user.created"}`}, 5: {`"events":["*"]`, `{"type":"user.unbanned"}`},
	} {
		s := sources()
		s.Types = s.Types[kept:]
		files, err := Make(s, Settings{Name: "Acme", API: "https://api.acme.test", Companions: delivery.CompanionsNone})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !bytes.Contains(files["index.md"], []byte(text)) {
				t.Errorf("without the first %d types, the first page lacks %s", kept, text)
			}
		}
	}
}

// made is a site with its settings.
type made struct {
	settings Settings
	files    map[string][]byte
}

// everySite has one for each choice of headers, keys and traces.
var everySite = sync.OnceValues(func() (all []made, err error) {
	for n, companions := range []delivery.Companions{
		delivery.CompanionsNone, delivery.CompanionsWebhook, delivery.CompanionsSvix, delivery.CompanionsBoth,
	} {
		on := n%2 == 1
		s := Settings{
			Name: "Acme", Support: "mailto:help@acme.test", API: "https://api.acme.test",
			Companions: companions, PublicKeys: on, Traces: on,
		}
		files, fault := Make(sources(), s)
		all, err = append(all, made{s, files}), errors.Join(err, fault)
	}
	return all, err
})

func sites(t *testing.T) []made {
	t.Helper()
	all, err := everySite()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// code matches quotes of files that every adopter has alike.
var code = regexp.MustCompile("(?ms)^```.*?^```$")

func TestMake_saysOnlyWhatTheAdopterSends(t *testing.T) {
	for _, each := range sites(t) {
		s := each.settings
		for name, wanted := range map[string]bool{
			"webhook-signature": s.Companions == "webhook" || s.Companions == "webhook+svix",
			"svix-signature":    s.Companions == "svix" || s.Companions == "webhook+svix",
			"wh-webhook-event":  true,
			"wh-svix-event":     false,
			"traceparent":       s.Traces,
			"v1a,":              s.PublicKeys,
		} {
			if found := each.prose(name); (found != "") != wanted {
				t.Errorf("%s: %s is on %q, wanted %t", s.Companions, name, found, wanted)
			}
		}
	}
}

// prose is a page that has a word outside of code, or "". The reference has each header that there can be.
func (m made) prose(word string) string {
	for file, text := range m.files {
		if strings.HasSuffix(file, ".md") && file != "api.md" && bytes.Contains(code.ReplaceAll(text, nil), []byte(word)) {
			return file
		}
	}
	return ""
}

// internal are words of operators and of the machinery, which mean nothing to a tenant.
var internal = regexp.MustCompile(`\b(Herald|Lambda|DynamoDB|SQS|KMS|CloudWatch|CloudFormation|runbook|alarms?|` +
	`deploy\.md|operators\.md|infra/|herald-local|CompanionHeaders|AsymmetricSignatures|ForwardTrace)\b`)

func TestMake_hasNothingOfOperators(t *testing.T) {
	for _, each := range sites(t) {
		for file, text := range each.files {
			if strings.HasSuffix(file, ".md") || file == "llms.txt" {
				if found := internal.Find(wire.ReplaceAll(code.ReplaceAll(text, nil), nil)); found != nil {
					t.Errorf("%s has %q", file, found)
				}
			}
		}
	}
}

func TestMake_putsMarkdownNextToEachPageAndInLLMs(t *testing.T) {
	for _, each := range sites(t) {
		pages := 0
		for file, text := range each.files {
			name, found := strings.CutSuffix(file, ".html")
			if !found {
				continue
			}
			pages++
			if len(each.files[name+".md"]) == 0 || !bytes.Contains(each.files["llms.txt"], []byte("]("+name+".md)")) {
				t.Errorf("%s has no Markdown, or is not in llms.txt", file)
			}
			if bytes.Contains(text, []byte("<th></th>")) {
				t.Errorf("%s has a column without a head", file)
			}
			if n := bytes.Count(text, []byte("<h1")); n != 1 {
				t.Errorf("%s has %d titles", file, n)
			}
		}
		if pages < len(catalogue.Types())+8+10 {
			t.Errorf("only %d pages", pages)
		}
	}
}

func TestMake_linksModelsToTheSiteWhateverItsAddress(t *testing.T) {
	for _, address := range []string{
		"https://a.test", "https://bücher.test/a/", "https://a.test/web hooks", `https://a.test/(1)/<b>\x`,
		"https://a.test/a_b/*c*/[d]/",
	} {
		files, err := Make(sources(), Settings{Name: "Acme", Site: address, Companions: "webhook"})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := asHTML(string(files["llms.txt"]))
		if err != nil {
			t.Fatal(err)
		}
		link := hrefs.FindSubmatch(shown)
		if link == nil {
			t.Fatalf("%s: llms.txt has no link", address)
		}
		got, err := url.PathUnescape(string(link[1]))
		if want := strings.TrimSuffix(address, "/") + "/index.md"; err != nil || got != want {
			t.Errorf("llms.txt links to %q, %v, want %s", got, err, want)
		}
	}
}

// Texts of a catalogue and of settings that would become elements, addresses or Markdown if they could.
//
// Threat of a page: the tenants' site has scripts, odd commands or operators' texts. Held by: escaped, quoted, named
// sections alone.
func TestMake_keepsTextsTexts(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `[click](javascript:alert(1))`, `![x](https://a.test/x)`,
		"```\n</code></pre><script>alert(1)</script>", `"><script src=https://a.test></script>`, `{{.Body}}`, `| a | b |`,
		`<https://a.test>`, `\](javascript:1)`, `&lt;script&gt;`, `# head`, "`code` **bold**", `</title><script>`,
		`&#106;avascript:`, `[x]: https://a.test`, "a\n\n<script>", `<!-- -->`, `~~~`, `$(id)`,
		`1. a`, `1) a`, `- a`, `+ a`, `---`, `===`, "a - b. c", `:-: | -`,
	}
	from := sources()
	from.Types = nil
	for n, each := range hostile {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(each)
		from.Types = append(from.Types, catalogue.Type{
			Name: fmt.Sprintf("a.b%d", n), Description: each, Example: `{"x":"` + quoted + `"}`,
			Schema: `{"description":"` + quoted + `","properties":{"` + quoted + `":{}}}`,
		})
	}
	all := strings.ReplaceAll(strings.Join(hostile, " "), "\n", "")
	files, err := Make(from, Settings{Name: all, Support: "https://a.test/?" + all, API: "https://a.test/?" + all,
		Companions: "webhook", Addresses: []string{all}, Site: "https://a.test/" + all})
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range files {
		if strings.HasSuffix(name, ".html") {
			foreign(t, name, page)
		}
	}
	for n, each := range hostile {
		for _, name := range []string{fmt.Sprintf("event-a.b%d.html", n), "events.html"} {
			shown := strings.Join(strings.Fields(words(files[name])), " ")
			if !strings.Contains(shown, strings.Join(strings.Fields(each), " ")) {
				t.Errorf("%s does not show %q", name, each)
			}
		}
	}
}

// A developer pastes these commands into a shell.
func TestMake_hasCommandsThatNoAddressChanges(t *testing.T) {
	for _, address := range []string{
		"https://api.a.test", "https://api.a.test/stage/", "https://bücher.test:8443/a%20b", "https://a.test/$(id)",
		"https://a.test/`id`", "https://a.test/it's;exit", `https://a.test/"&|(<>)\`, "https://a.test/!*~",
	} {
		files, err := Make(sources(), Settings{Name: "Acme", API: address, Companions: "webhook"})
		if err != nil {
			t.Fatal(err)
		}
		for page, path := range map[string]string{
			"index.md": "/v1/webhooks", "addresses.md": "/v1/source-addresses",
		} {
			_, command, _ := strings.Cut(string(files[page]), "```sh\n")
			command, _, _ = strings.Cut(command, "```")
			script := "curl() { printf '%s\\n' \"$@\"; }\n" + command
			said, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput()
			if want := strings.TrimSuffix(address, "/") + path; err != nil || strings.Split(string(said), "\n")[1] != want {
				t.Errorf("%s with %s asks %q, %v, want %s", page, address, said, err, want)
			}
		}
		if !strings.Contains(words(files["api.html"]), "The base URL is "+strings.TrimSuffix(address, "/")+".") {
			t.Errorf("api.html does not show %s", address)
		}
	}
}

func TestFence_holdsWhateverIsInIt(t *testing.T) {
	for _, code := range []string{"```\n<b>", "a\n`````\n<b>", "~~~\n<b>"} {
		shown, err := asHTML(fence("sh", code))
		if err != nil || bytes.Contains(shown, []byte("<b>")) || !strings.Contains(words(shown), code) {
			t.Errorf("%q became %s, %v", code, shown, err)
		}
	}
}

// foreign looks for elements that no page of the site has.
func foreign(t *testing.T, name string, page []byte) {
	t.Helper()
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for tokens.Next() != html.ErrorToken {
		token := tokens.Token()
		for _, a := range token.Attr {
			script := token.Data == "script" && a.Key == "src" && a.Val != "search.js"
			address := a.Key == "href" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript")
			if script || address || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s has %s", name, token)
			}
		}
		if token.Data == "img" || token.Data == "script" && token.Type == html.StartTagToken && len(token.Attr) == 0 {
			t.Errorf("%s has %s", name, token)
		}
	}
}

// words are the texts of a page.
func words(page []byte) string {
	var b strings.Builder
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for tokens.Next() != html.ErrorToken {
		if token := tokens.Token(); token.Type == html.TextToken {
			b.WriteString(token.Data)
		}
	}
	return b.String()
}

func TestCheckLinks_findsMissingPagesAndAnchors(t *testing.T) {
	w := &site{files: map[string][]byte{"b.html": []byte(`<h2 id="y">`)}}
	for target, want := range map[string]bool{
		"b.html": true, "b.html#y": true, "b.html#z": false, "c.html": false, "#y": false, "#x": true, "c.html#y": false,
		"https://a.test": true,
	} {
		w.files["a.html"] = []byte(`<a id="x" href="` + target + `"></a>`)
		if err := w.checkLinks(); (err == nil) != want {
			t.Errorf("%s: %v, want %t", target, err, want)
		}
	}
}

// The site takes texts out of documents. It notices if a document no longer has such a text, or has a link for which
// the site has no page.
func TestAdapted_namesLinksThatHaveNoPage(t *testing.T) {
	w := &site{Settings: Settings{Name: "Acme"}}
	w.adapted("See [deploying](deploy.md#parameters).")
	w.swap("text", "gone", "")
	w.without("text", "**Gone.**")
	if len(w.faults) != 3 {
		t.Errorf("faults %v, want three", w.faults)
	}
}
