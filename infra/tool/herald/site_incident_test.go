//go:build emulator && incident

package main

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/herald-webhooks/herald/infra/install/site/pages"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// checkout is found before the tests leave their folder.
var checkout, errCheckout = filepath.Abs("../../..")

// Every page of Herald's own documents passes axe-core in light and dark, and asks nobody else for anything.
func TestTheHandbookInABrowser(t *testing.T) {
	files, err := pages.Handbook(checkout, "https://git.acme.test/herald")
	if err = errors.Join(errCheckout, err); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, axeCore(t), t.TempDir())
	b.serve(t, files)
	looked := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".html") {
			t.Run(name, func(t *testing.T) {
				b.visit(t, "/"+name, "")
				b.isAccessible(t, 2)
			})
			looked++
		}
	}
	if looked < 40 {
		t.Errorf("the handbook has %d pages", looked)
	}
}

// serve has the browser look at these files until the test ends.
func (b *browser) serve(t *testing.T, files map[string][]byte) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	before := b.address
	b.address = server.URL
	t.Cleanup(func() { b.address = before })
}

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
	b.serve(t, files)
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
