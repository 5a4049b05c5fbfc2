package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// hostile are texts that a tenant, a receiver or a pasted address may have.
var hostile = map[string]string{
	"markup": markup, "an attribute": `" onmouseover="alert(1)`, "a link": "javascript:alert(1)",
	"a template":    "{{.Data}}",
	"ten kilobytes": strings.Repeat("x", 10<<10), "right to left": "\u202etxt.exe\u2067 \u05d0",
	"an entity": "&lt;b&gt;&#0;", "a control": "a\x00\x1b[31m\r\nSet-Cookie: a=b",
}

// Whatever tenants, receivers and addresses say stays text, does not reorder the text around it, and leads nowhere.
//
// Threat of a page: markup or a link in any field. Held by: texts are escaped and isolated; no script but its own.
func TestPages_isolateWhateverTheyShow(t *testing.T) {
	for name, text := range hostile {
		f := &functions{written: text}
		web, browser, s := open(t, f)
		for path := range s.views() {
			address := web.URL + path
			if q, ok := queries[path]; ok {
				address = web.URL + q
			}
			isolated(t, name+" at "+path, body(t, get(t, browser, address)), text, s.site.Base)
		}
		for _, path := range []string{
			"/endpoints?state=%s&tenant_id=%[1]s&host=%[1]s", "/dead?reason=%s&endpoint_id=%[1]s&status=%[1]s&since=%[1]s",
			"/rejected?reason=%s", "/jobs?state=%s", "/keys?tenant_id=%s", "/acts?span=%s", "/traffic?span=%s", "/find?q=%s",
			"/subscribers?event_type=%s&cursor=%[1]s",
			"/confirm?act=%s", "/confirm?act=purge&delivery_id=%s", "/confirm?act=release&endpoint_id=%s",
			"/confirm?act=resume_tenant&tenant_id=%s", "/confirm?act=resume_job&job_id=%s",
			"/event?event_id=%s&tenant_id=%[1]s", "/tail?tenant_id=%s&endpoint_id=%[1]s", "/chart?tenant_id=%s&drawn=%[1]s",
			"/tenant?tenant_id=%s", "/tenant/acts?tenant_id=%s&since=%[1]s", "/rejected?event_id=%s",
			"/?done=%s", "/job?cursor=%s", "/delivery?delivery_id=%s",
		} {
			path = strings.NewReplacer("%s", url.QueryEscape(text), "%[1]s", url.QueryEscape(text)).Replace(path)
			resp := get(t, browser, web.URL+path)
			if resp.StatusCode == http.StatusInternalServerError || len(resp.Cookies()) > 0 {
				t.Errorf("%s: %s, %v", path[:min(60, len(path))], resp.Status, resp.Cookies())
			}
			isolated(t, path[:min(60, len(path))], body(t, resp), text, s.site.Base)
		}
	}
}

// isolated fails the test if a text is outside an element that isolates it, or is an element, an attribute or a link.
func isolated(t *testing.T, where, page, text, base string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.TextNode && strings.Contains(n.Data, text) && !within(n, "bdi", "pre", "code", "title") {
			t.Errorf("%s: bare in <%s>: %.100q", where, n.Parent.Data, n.Data)
		}
		for _, a := range n.Attr {
			address := slices.Contains([]string{"href", "action", "src", "formaction", "hx-get"}, a.Key)
			if address && !strings.HasPrefix(a.Val, base+"/") && a.Val != "#content" {
				t.Errorf("%s: leads to %.100q", where, a.Val)
			}
			if strings.HasPrefix(a.Key, "on") || n.Data == "img" {
				t.Errorf("%s: <%s %s>", where, n.Data, a.Key)
			}
		}
	}
}

func within(n *html.Node, names ...string) bool {
	for above := range n.Ancestors() {
		if slices.Contains(names, above.Data) {
			return true
		}
	}
	return false
}

// A page of another site can have the browser ask for a page, and nothing more: every act is a POST from the console.
//
// Threat of a page: another site's page acts. Held by: acts are POSTs of the console's own pages.
func TestActs_areDoneByNoPageOfAnotherSite(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	form := url.Values{
		"act": {"purge"}, "token": {"t"}, "status": {"dead"}, "count": {"1"}, "typed": {"1"}, "delivery_id": {"msg_1"},
		"message_id": {"m_1"}, "endpoint_id": {"webhook_1"}, "job_id": {"job_1"},
	}
	for path := range s.acts() {
		for name, change := range map[string]func(*http.Request){
			"another site's":   func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"a local page's":   func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
			"a sandboxed page": func(r *http.Request) { r.Header.Set("Origin", "null") },
			"none":             func(r *http.Request) { r.Header.Del("Origin") },
		} {
			if got := submit(t, browser, web.URL+path, form, change).StatusCode; got != http.StatusForbidden {
				t.Errorf("%s, origin: %s: %d", path, name, got)
			}
		}
		if got := get(t, browser, web.URL+path+"?"+form.Encode()).StatusCode; got != http.StatusNotFound &&
			got != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, got)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("asked %v", f.asked)
	}
}
