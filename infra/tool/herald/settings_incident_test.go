//go:build emulator && incident

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/settings"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// settingsPage is the settings page to copy, in a browser that is used by keyboard alone.
type settingsPage struct {
	*browser
	t *testing.T
}

// openSettings opens the page for a tenant.
func openSettings(t *testing.T, b *browser, c *client.Client) settingsPage {
	t.Helper()
	page := settings.Page{Root: checkout, Keys: filepath.Join(t.TempDir(), "keys"), Log: os.Stderr}
	served, address, err := page.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Kill)
	b.do(t, chromedp.Navigate(address))
	b.address, _, _ = strings.Cut(address, "/?")
	p := settingsPage{b, t}
	b.says(t, "Event types")
	return p
}

// focused is how a screen reader names what has the focus.
const focused = `(() => {
	const at = document.activeElement;
	const named = ids =>
		(ids ?? "").split(" ").map(id => document.getElementById(id)?.innerText).filter(Boolean).join(" ");
	const name = at.labels?.[0]?.innerText ?? at.innerText ?? "";
	const kind = at.type ?? at.localName;
	const about = named(at.getAttribute("aria-describedby"));
	return kind + " " + JSON.stringify(name.split("\n")[0].trim()) + (about && " (" + about.split("\n").join("; ") + ")");
})()`

// spoken is what the page says by itself, by its live regions.
const spoken = `[...document.querySelectorAll("[role=status], [role=alert]")].map(e => e.innerText).filter(Boolean)
	.join(" | ")`

// key presses keys, and says in the test's log where that has led.
func (p settingsPage) key(what string, keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.do(p.t, chromedp.KeyEvent(k))
	}
	p.t.Logf("%-24s %.120s", what, script[string](p.t, p.browser, focused))
}

// to moves on with the Tab key, and says how often.
func (p settingsPage) to(selector string) {
	p.t.Helper()
	for n := range 80 {
		if script[bool](p.t, p.browser, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			p.t.Logf("%-24s %.120s", fmt.Sprintf("Tab × %d", n), script[string](p.t, p.browser, focused))
			return
		}
		p.do(p.t, chromedp.KeyEvent(kb.Tab))
	}
	p.t.Fatalf("the Tab key does not lead to %s", selector)
}

// hears waits until the page says a text by itself.
func (p settingsPage) hears(text string) {
	p.t.Helper()
	p.until(spoken, text)
	p.t.Logf("%-24s “%.120s”", "", script[string](p.t, p.browser, spoken))
}

// at waits until something has the focus, by its name.
func (p settingsPage) at(name string) {
	p.t.Helper()
	p.until(focused, name)
	p.t.Logf("%-24s → %.120s", "", script[string](p.t, p.browser, focused))
}

// until waits until a script gives a text that has another in it.
func (p settingsPage) until(text, want string) {
	p.t.Helper()
	for end := time.Now().Add(patience.Limit()); !strings.Contains(script[string](p.t, p.browser, text), want); {
		if time.Now().After(end) {
			p.t.Fatalf("no %q in %q", want, script[string](p.t, p.browser, text))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// clean runs axe-core in light and dark.
func (p settingsPage) clean() {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(p.t, scheme)
		if violations := script[[]string](p.t, p.browser, p.axe+axeRun); len(violations) > 0 {
			p.t.Errorf("%s: %s", scheme, strings.Join(violations, "\n"))
		}
	}
}

// A tenant does all that the page offers by keyboard alone. With -v the log is the transcript.
func TestTheSettingsPageByKeyboardAlone(t *testing.T) {
	i := startStack(t)
	b := openBrowser(t, axeCore(t), t.TempDir())
	p := openSettings(t, b, i.tenant)
	p.clean()
	p.creates()
	p.changes()
	p.rotates()
	p.endsAndRestores()
	p.searches()
}

// axeCore is its source, which is read before a test leaves its folder.
func axeCore(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join(checkout, ".tools", "openapi", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

const typed = "https://hooks.example.com/herald"

func (p settingsPage) creates() {
	p.t.Helper()
	p.to(`[data-key=add]`)
	p.key("Enter", kb.Enter)
	p.at("URL")
	p.key("an address without TLS", strings.Split("http://hooks.example.com", "")...)
	p.key("Enter", kb.Enter)
	p.hears("Some fields cannot be saved")
	p.at("URL")
	p.clean()
	p.do(p.t, chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
	p.key("the address", strings.Split(typed, "")...)
	p.to(`[value="user.*"]`)
	p.key("Space", " ")
	p.to(`dialog button.primary`)
	p.key("Enter", kb.Enter)
	p.until(`document.querySelector("dialog")?.innerText ?? ""`, "whsec_")
	p.at("Copy")
	p.clean()
	p.to(`dialog button:not(.primary)`)
	p.key("Enter", kb.Enter)
	p.hears("The endpoint was created.")
	p.at("Add an endpoint")
	if text := script[string](p.t, p.browser, `document.documentElement.outerHTML`); strings.Contains(text, "whsec_") {
		p.t.Error("the secret is still in the page")
	}
	p.clean()
}

func (p settingsPage) changes() {
	p.t.Helper()
	p.to(`[data-key$=" edit"]`)
	p.key("Enter", kb.Enter)
	p.at("URL")
	p.key("Tab", kb.Tab)
	p.key("a description", strings.Split("CRM <b>sync</b>", "")...)
	p.key("Enter", kb.Enter)
	p.hears("The endpoint was changed.")
	p.at("Edit")
	p.key("Tab", kb.Tab)
	p.key("Enter", kb.Enter)
	p.at("Type")
	p.clean()
	p.key("ArrowDown", kb.ArrowDown)
	p.to(`dialog button.primary`)
	p.key("Enter", kb.Enter)
	p.hears("is on its way")
	p.at("Send a test")
}

func (p settingsPage) rotates() {
	p.t.Helper()
	p.key("Tab", kb.Tab)
	p.key("Enter", kb.Enter)
	p.at("The old secret also signs for")
	p.clean()
	p.key("Escape", kb.Escape)
	p.at("Rotate the secret")
	p.key("Enter", kb.Enter)
	p.at("The old secret also signs for")
	p.key("ArrowDown", kb.ArrowDown)
	p.to(`dialog button.primary`)
	p.key("Enter", kb.Enter)
	p.until(`document.querySelector("dialog")?.innerText ?? ""`, "whsec_")
	p.to(`dialog button:not(.primary)`)
	p.key("Enter", kb.Enter)
	p.hears("The secret was rotated.")
	p.says(p.t, "The one before also signs until")
	p.at("Rotate the secret")
}

func (p settingsPage) endsAndRestores() {
	p.t.Helper()
	p.key("Tab", kb.Tab)
	p.key("Enter", kb.Enter)
	p.hears("The endpoint is disabled.")
	p.at("Enable")
	p.clean()
	p.key("Enter", kb.Enter)
	p.hears("The endpoint is active.")
	p.at("Disable")
	p.key("Tab", kb.Tab)
	p.key("Enter", kb.Enter)
	p.at("Cancel")
	p.clean()
	p.key("Tab", kb.Tab)
	p.key("Enter", kb.Enter)
	p.hears("The endpoint was deleted.")
	p.at("Restore")
	p.clean()
	p.key("Enter", kb.Enter)
	p.hears("The endpoint is active again.")
	p.at("Edit")
}

func (p settingsPage) searches() {
	p.t.Helper()
	p.to(`#search`)
	p.key("banned", strings.Split("banned", "")...)
	p.hears("2 of 26 event types")
	p.key("Tab", kb.Tab)
	p.key("Enter", kb.Enter)
	p.says(p.t, `"userId"`)
	p.clean()
}
