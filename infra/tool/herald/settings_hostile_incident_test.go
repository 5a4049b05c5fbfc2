//go:build emulator && incident

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// Whatever Herald answers, its texts stay texts: of tenants, of the operator's catalogue, of refusals.
//
// Threat of a page: it shows markup, or a key. Held by: text nodes and trusted types; the server alone has the key,
// sealed.
func TestTheSettingsPageIsolatesWhateverItShows(t *testing.T) {
	if errCheckout != nil {
		t.Fatal(errCheckout)
	}
	b := openBrowser(t, axeCore(t), t.TempDir())
	for name, text := range map[string]string{
		"markup": markup, "a script": `</script><script>document.title="broken in"</script>`,
		"an attribute": `" onfocus="document.title='broken in'" autofocus="`,
		"a link":       `javascript:document.title="broken in"`,
		"a template":   "${document.title='broken in'}{{1}}", "right to left": "\u202etxt.exe\u2067 \u05d0",
		"a thousand": strings.Repeat("x", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			api := httptest.NewServer(hostileHerald(text))
			t.Cleanup(api.Close)
			p := openSettings(t, b, client.New(statefile.State{
				APIURL: api.URL, AWSEndpointURL: api.URL, TenantID: "acme", Functions: map[string]string{"apikeys": "apikeys"},
			}))
			p.isolates(text)
			p.to(`[data-key$=" edit"]`)
			p.key("Enter", kb.Enter)
			p.at("URL")
			p.isolates(text)
			p.key("Enter", kb.Enter)
			p.hears("Nothing was changed.")
			p.to(`[data-key$=" disable"]`)
			p.key("Enter", kb.Enter)
			p.until(`document.getElementById("fault").innerText.length > 0 ? "said" : ""`, "said")
			p.isolates(text)
		})
	}
}

// hostileHerald answers with a text wherever there is one, and refuses each change with it.
func hostileHerald(text string) http.Handler {
	of := func(status string) map[string]any {
		return map[string]any{
			"id": "webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA", "url": text, "description": text, "events": []string{text},
			"status": status, "header_names": []string{text}, "public_key": text, "created_at": "2026-03-01T12:00:00.000Z",
			"updated_at": "2026-03-01T12:00:00.000Z", "effective_rate_limit": nil, "rate_limit": nil, "deleted_at": nil,
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch {
		case strings.HasSuffix(r.URL.Path, "/invocations"):
			id := strings.Repeat("0", 26)
			answer = map[string]any{"key_id": id, "api_key": "hk_" + id + "_" + strings.Repeat("a", 43)}
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusConflict)
			fault := map[string]any{"pointer": "/" + text, "detail": text}
			answer = map[string]any{"code": text, "detail": text, "errors": []any{fault}}
		case r.URL.Path == "/v1/event-types":
			answer = map[string]any{"patterns": []string{text}, "data": []any{map[string]any{
				"name": text, "description": text, "deprecated": true, "replaced_by": text,
				"schema": map[string]any{text: text}, "example": map[string]any{text: text},
			}}}
		case r.URL.Query().Get("status") == "deleted":
			answer = map[string]any{"data": []any{of("deleted")}, "next_cursor": nil}
		default:
			answer = map[string]any{"data": []any{of("active")}, "next_cursor": nil}
		}
		_ = json.NewEncoder(w).Encode(answer) // the page has gone
	})
}

// strange lists what a page should not have: elements and listeners of a text's, and addresses.
const strange = `[...document.querySelectorAll("main script, main img, main a, main iframe, main [href], main [src]"),
	...[...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => a.name.startsWith("on")))]
	.map(e => e.outerHTML)`

func (p settingsPage) isolates(text string) {
	p.t.Helper()
	if found := script[[]string](p.t, p.browser, strange); len(found) > 0 {
		p.t.Errorf("the page has %v", found)
	}
	if title := script[string](p.t, p.browser, `document.title`); title != "Webhooks" {
		p.t.Errorf("the title is %q", title)
	}
	if over := script[int](p.t, p.browser, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		p.t.Errorf("%.20s: %d pixels too wide", text, over)
	}
	p.clean()
}
