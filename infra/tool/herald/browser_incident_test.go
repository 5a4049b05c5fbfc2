//go:build emulator && incident

package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

var write = flag.Bool("write", false, "write the pictures of infra/docs/images")

const markup = `<img src=x onerror="document.title='broken in'">`

// A browser opens the console of a local stack in an incident. Texts of tenants and receivers stay text, each view
// passes axe-core in light and dark, and each button works.
//
// Threat of a slip: takes old news for the state of now. Held by: a page without an answer for 20 s says so.
func TestTheConsoleInABrowser(t *testing.T) {
	images, err := filepath.Abs("../../docs/images")
	if err != nil {
		t.Fatal(err)
	}
	i := startStack(t)
	b := openBrowser(t, axeCore(t), images)
	address := b.console(t, stack.Connect)

	b.visit(t, "/", "No endpoint is in trouble")
	b.picture(t, "console-empty.png", "light")

	broken, gone := i.happens(t)
	for path, says := range i.views(t, broken) {
		t.Run(path, func(t *testing.T) {
			b.visit(t, path, says)
			b.isTextAndAccessible(t)
		})
	}
	b.visit(t, "/", "http_5xx")
	b.picture(t, "console-light.png", "light")

	t.Run("the site for tenants' developers", func(t *testing.T) { b.showsTheSite(t) })
	t.Run("pause by clicks, resume by keys", func(t *testing.T) { b.pausesAndResumes(t, gone) })
	t.Run("somebody else was faster", func(t *testing.T) { b.pausesAgain(t, gone) })
	t.Run("replay of a cause", func(t *testing.T) { b.replaysACause(t, broken) })
	t.Run("a job whose endpoint was deleted meanwhile", func(t *testing.T) { b.replaysToNobody(t, i, gone) })
	t.Run("a page that nobody sees", func(t *testing.T) { b.restsWhileHidden(t) })
	t.Run("attempts by keys", func(t *testing.T) { b.followsAndDraws(t, i) })
	t.Run("loading", func(t *testing.T) { b.leaves(t) })
	t.Run("keys and sizes", func(t *testing.T) { b.fits(t, broken) })
	b.visit(t, "/traffic", "p99")
	b.picture(t, "console-traffic.png", "dark")
	t.Run("denied", func(t *testing.T) {
		b.console(t, readOnly)
		b.visit(t, "/endpoints?state=open", "open")
		b.press(t, `main td a`, `form[action$="/control/pause"] button:disabled`)
		b.says(t, "you have no right to do that")
		b.isTextAndAccessible(t)
		b.picture(t, "console-denied.png", "light")
	})
	t.Run("a console that has gone", func(t *testing.T) { b.goesStale(t) })
	t.Run("a stack that has gone", func(t *testing.T) {
		b.address = address // the first console: two others were started after it
		b.visit(t, "/", "Endpoints in trouble")
		i.Close()
		b.says(t, "the local stack is gone")
		b.picture(t, "console-broken.png", "dark")
	})
}

// happens lets one endpoint be down, and kills two deliveries to each of two others.
func (i incident) happens(t *testing.T) (broken, gone client.Endpoint) {
	t.Helper()
	i.answering(t, "mail", "user.created", 200)
	i.answering(t, "orders", "user.created", 503)
	broken, mended := i.answering(t, "crm", "user.deleted", 500)
	gone, _ = i.answering(t, "search", "user.deleted", 410)
	var events []examples.Message
	for n := range 30 { // as many as open a circuit at their second attempt
		data := jsontext.Value(fmt.Sprintf(`{"userId":"user_%d"}`, n))
		events = append(events, examples.Message{TenantID: "acme", Type: "user.created", Data: data})
	}
	if err := i.tenant.SendEvents(t.Context(), i.EventsQueueURL, events); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"evt_1", "evt_2"} {
		i.publish(t, examples.Message{ID: id, TenantID: "acme", Type: "user.deleted",
			Data: jsontext.Value(fmt.Sprintf(`{"userId":%q}`, markup+id))})
	}
	i.publish(t, examples.Message{ID: markup, TenantID: markup, Type: "user.deleted", Data: jsontext.Value("{}")})
	eventually(t, "an open circuit", func(ctx context.Context) (bool, error) {
		open, err := i.tenant.InState(ctx, "open")
		return len(open) == 1, err
	})
	i.dies(t, broken, 2)
	i.dies(t, gone, 2)
	mended.Fail()
	return broken, gone
}

// views are the pages after that, with a text of each.
func (i incident) views(t *testing.T, broken client.Endpoint) map[string]string {
	t.Helper()
	id := i.dies(t, broken, 2)
	return map[string]string{
		"/": "http_5xx", "/traffic": "creation: complete", "/endpoints": "open",
		"/endpoint?tenant_id=acme&endpoint_id=" + broken.ID: id,
		"/deliveries?tenant_id=acme&event_id=evt_1":         "dead", "/delivery?delivery_id=" + id: "6 attempts",
		"/dead?status=dead": id, "/letter?delivery_id=" + id: "<img", "/rejected": "tenant_id",
		"/jobs": "No job", "/keys?tenant_id=acme": "demonstration", "/acts": "issue", "/keys": "acme", "/shares": "acme",
		"/deliveries": "crm", "/confirm?act=purge&endpoint_id=" + broken.ID: "This cannot be undone",
		"/find?q=" + url.QueryEscape(markup): "<img", "/subscribers?event_type=user.deleted": broken.ID,
		"/tail": "Follow all attempts", "/chart?tenant_id=acme": "Draw attempts of acme",
		"/tenant?tenant_id=acme&traffic=1": "create", "/event?tenant_id=acme&event_id=evt_1": "Replay what is dead of it",
	}
}

// readOnly connects as a role that may look, but not act.
func readOnly(ctx context.Context, where stack.Where) (stack.Stack, error) {
	s, err := stack.Connect(ctx, where)
	s.Lambda = inspector{s.Lambda, s.Functions["inspect"]}
	return s, err
}

// inspector denies all functions but one, as the emulator never does.
type inspector struct {
	client.Invoker
	function string
}

func (i inspector) Invoke(
	ctx context.Context, in *lambda.InvokeInput, options ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	if *in.FunctionName != i.function {
		return nil, &smithy.GenericAPIError{
			Code: "AccessDeniedException", Message: "not authorized to perform: lambda:InvokeFunction",
		}
	}
	return i.Invoker.Invoke(ctx, in, options...)
}

// mostClicks lead from the first page, where the cause is seen, to its end.
const mostClicks = 4

func (b *browser) ended(t *testing.T) {
	t.Helper()
	if b.clicks > mostClicks {
		t.Errorf("took %d clicks, want at most %d", b.clicks, mostClicks)
	}
}

// toReplay leads from a list to the question about its replay.
const toReplay = `main a[href*="/confirm?act=replay"]`

// said is where a page tells the result of an act.
const said = `.note[role=status]`

func (b *browser) pausesAndResumes(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/", "Why deliveries died")
	b.press(t, fmt.Sprintf(`main td a[href*="/endpoint?endpoint_id=%s"]`, e.ID), `form[action$="/control/pause"]`)
	b.press(t, `form[action$="/control/pause"] button`, said)
	b.says(t, "paused by")
	if at := script[string](t, b, `location.search`); strings.Contains(at, "done") {
		t.Errorf("loaded again, the page would say so again: %s", at)
	}
	b.ended(t)

	b.do(t, chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	if at := script[string](t, b, `document.activeElement.id`); at != "content" {
		t.Errorf("the first link leads to %q, want the content", at)
	}
	b.tabTo(t, `form[action$="/control/resume"] button`)
	b.do(t, chromedp.KeyEvent(kb.Enter))
	b.says(t, "resumed")
}

// tabTo moves on with the Tab key.
func (b *browser) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range 50 {
		b.do(t, chromedp.KeyEvent(kb.Tab))
		if script[bool](t, b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	t.Fatalf("the Tab key does not lead to %s", selector)
}

// pausesAgain presses a button of a page that is out of date.
func (b *browser) pausesAgain(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/endpoint?tenant_id=acme&endpoint_id="+e.ID, "Pause")
	ends(t, exit.Done, "endpoints pause "+e.ID+" --tenant acme")
	b.press(t, `form[action$="/control/pause"] button`, `[role=alert]`)
	b.says(t, "is paused already")
	ends(t, exit.Done, "endpoints resume "+e.ID+" --tenant acme")
}

func (b *browser) replaysACause(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/", "Why deliveries died")
	b.press(t, fmt.Sprintf(`main td a[href*="/dead?endpoint_id=%s"]`, e.ID), toReplay)
	b.press(t, toReplay, `form[action$="/start"] button`)
	b.says(t, "Replay 2 dead letters?")
	b.picture(t, "console-question.png", "light")
	b.press(t, `form[action$="/start"] button`, `progress`)
	b.says(t, "done: 2 of 2 done") // the page asks again by itself
	b.says(t, "2\ndelivered")
	b.ended(t)
}

func (b *browser) replaysToNobody(t *testing.T, i incident, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/dead?status=dead&endpoint_id="+e.ID, "msg_")
	b.press(t, toReplay, `form[action$="/start"] button`)
	b.says(t, "Replay 2 dead letters?")
	if err := i.tenant.Call(t.Context(), http.MethodDelete, "/v1/webhooks/"+e.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	b.press(t, `form[action$="/start"] button`, `progress`)
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

// goesStale looks at a live page after its console has ended.
func (b *browser) goesStale(t *testing.T) {
	t.Helper()
	t.Run("it ends", func(t *testing.T) {
		b.console(t, readOnly)
		b.visit(t, "/", "Endpoints in trouble")
	})
	script[bool](t, b, `(answered -= 30000) > 0`)
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#stale")))
}

// leaves shows the page that is left until the stack has answered. DevTools see nothing of a page that is really left.
func (b *browser) leaves(t *testing.T) {
	t.Helper()
	b.visit(t, "/", "Why deliveries died")
	script[bool](t, b, `dispatchEvent(new Event("beforeunload"))`)
	b.do(t, chromedp.WaitVisible(chromedp.CSS("#loading")))
	b.picture(t, "console-loading.png", "light")
	script[bool](t, b, `dispatchEvent(new Event("pageshow"))`)
	b.do(t, chromedp.WaitNotVisible(chromedp.CSS("#loading")))
}
