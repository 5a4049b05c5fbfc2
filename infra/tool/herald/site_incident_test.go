//go:build emulator && incident

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/herald-webhooks/herald/infra/install/site/pages"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// checkout is found before the tests leave their folder.
var checkout, errCheckout = filepath.Abs("../../..")

// showsTheSite looks at each kind of page of the site for tenants' developers, and searches its event types.
func (b *browser) showsTheSite(t *testing.T) {
	t.Helper()
	if errCheckout != nil {
		t.Fatal(errCheckout)
	}
	description := filepath.Join(checkout, "infra", "openapi.yaml")
	files, err := pages.Make(
		pages.Sources{Root: checkout, Description: description, Types: catalogue.Types()},
		pages.Settings{Name: "Acme", Support: "mailto:help@acme.test", Companions: "webhook", PublicKeys: true, Traces: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(folder+"/"+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	console := b.address
	b.address = server.URL
	t.Cleanup(func() { b.address = console })
	for path, says := range map[string]string{
		"/": "API key", "/event-user.created.html": "Sample", "/api.html": "Schemas", "/troubleshooting.html": "raw body",
		"/verifying.html": "Test your code",
	} {
		b.visit(t, path, says)
		b.isAccessible(t, 2)
	}
	b.visit(t, "/events.html", "user.created")
	b.isAccessible(t, 3)
	b.do(t, chromedp.SendKeys(chromedp.CSS("#search"), "ORG saml"))
	b.says(t, "3 of 26 types")
	shown := script[string](t, b, `document.querySelector("main table").innerText`)
	if strings.Contains(shown, "user.created") {
		t.Errorf("the search left %s", shown)
	}
}
