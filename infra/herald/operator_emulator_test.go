//go:build emulator

package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// mostClicks lead from the first page, where the cause is seen, to what ends it.
const mostClicks = 4

// begin opens the first page, where no id has to be typed, and counts clicks from there.
func (b *browser) begin(t *testing.T) {
	t.Helper()
	b.visit(t, "/", "What deliveries died of")
	b.clicks = 0
}

func (b *browser) ended(t *testing.T) {
	t.Helper()
	if b.clicks > mostClicks {
		t.Errorf("took %d clicks, want at most %d", b.clicks, mostClicks)
	}
}

// said is where a page says what was done.
const said = `.note[role=status]`

func (b *browser) pausesAndResumes(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.begin(t)
	b.press(t, fmt.Sprintf(`main td a[href^="/endpoint?endpoint_id=%s"]`, e.ID), `form[action="/control/pause"]`)
	b.press(t, `form[action="/control/pause"] button`, said)
	b.says(t, "paused by")
	b.ended(t)

	b.key(t, kb.Tab)
	b.key(t, kb.Enter)
	if at := script[string](t, b, `document.activeElement.id`); at != "content" {
		t.Errorf("the first link leads to %q, want the content", at)
	}
	b.tabTo(t, `form[action="/control/resume"] button`)
	b.key(t, kb.Enter)
	b.says(t, "resumed")
}

func (b *browser) key(t *testing.T, key string) {
	t.Helper()
	b.do(t, chromedp.KeyEvent(key))
}

// tabTo moves on with the Tab key.
func (b *browser) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range 50 {
		b.key(t, kb.Tab)
		if script[bool](t, b, "document.activeElement.matches("+quoted(selector)+")") {
			return
		}
	}
	t.Fatalf("the Tab key does not lead to %s", selector)
}

// pausesAgain presses a button of a page that is out of date.
func (b *browser) pausesAgain(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/endpoint?tenant_id=acme&endpoint_id="+e.ID, "Pause")
	ends(t, exitDone, "endpoints pause "+e.ID+" --tenant acme")
	b.press(t, `form[action="/control/pause"] button`, `[role=alert]`)
	b.says(t, "is paused already")
	ends(t, exitDone, "endpoints resume "+e.ID+" --tenant acme")
}

func (b *browser) replaysACause(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.begin(t)
	b.press(t, fmt.Sprintf(`main td a[href^="/dead?endpoint_id=%s"]`, e.ID), `form[action="/start"]`)
	b.press(t, `form[action="/start"] button`, `form[action="/start"] .note`)
	b.says(t, "Replay all 2, as a job")
	b.press(t, `form[action="/start"] button`, `progress`)
	b.says(t, "done: 2 of 2 done") // the page asks again by itself
	b.says(t, "2\ndelivered")
	b.ended(t)
}

func (b *browser) replaysToNobody(t *testing.T, i incident, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/dead?status=dead&endpoint_id="+e.ID, "msg_")
	b.press(t, `form[action="/start"] button`, `form[action="/start"] .note`)
	b.says(t, "Replay all 2, as a job")
	if status, err := i.tenant.API(t.Context(), http.MethodDelete, "/v1/webhooks/"+e.ID, nil, nil); status != 204 {
		t.Fatal(status, err)
	}
	b.press(t, `form[action="/start"] button`, `progress`)
	b.says(t, "done: 0 of 2 done, refused: 2 endpoint_deleted")
	b.says(t, "Its owner can restore it")
	b.isTextAndAccessible(t)
}

// refresh asks for the page as htmx does every few seconds, hidden or not, and counts the requests.
const refresh = `(async () => {
	Object.defineProperty(document, "hidden", {value: %t, configurable: true});
	let sent = 0;
	document.addEventListener("htmx:beforeSend", () => { sent++; });
	await htmx.ajax("GET", location.pathname, "#content");
	return sent;
})()`

func (b *browser) restsWhileHidden(t *testing.T) {
	t.Helper()
	for hidden, want := range map[bool]int{true: 0, false: 1} {
		b.visit(t, "/jobs", "replay")
		if sent := script[int](t, b, fmt.Sprintf(refresh, hidden)); min(sent, 1) != want {
			t.Errorf("hidden %t: %d requests", hidden, sent)
		}
	}
}

// leaves shows the page that is left until the stack has answered. DevTools see nothing of a page that is really left.
func (b *browser) leaves(t *testing.T) {
	t.Helper()
	b.visit(t, "/", "What deliveries died of")
	script[bool](t, b, `dispatchEvent(new Event("beforeunload"))`)
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#loading")))
	b.picture(t, "console-loading.png", "light")
	script[bool](t, b, `dispatchEvent(new Event("pageshow"))`)
	b.do(t, chromedp.WaitNotVisible(chromedp.CSS("#loading")))
}
