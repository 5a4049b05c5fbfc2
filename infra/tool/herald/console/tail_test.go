package console

import (
	std "cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// Follow has one attempt, with markup wherever a tenant or a receiver could write it.
func (f *functions) Follow(ctx context.Context, of stack.Tailed, each func(stack.Lines)) error {
	f.Lock()
	f.asked = append(f.asked, fmt.Sprintf("follow %+v", of))
	f.Unlock()
	text := std.Or(f.written, markup)
	line, err := json.Marshal(map[string]any{
		"tenant_id": "acme" + text, "endpoint_id": "webhook_1" + text, "delivery_id": "msg_1", "outcome": "retry",
		"reason": "timeout" + text, "attempt": 2,
	})
	if err != nil {
		return err
	}
	each(stack.Lines{Texts: []string{string(line)}, Sampled: true})
	<-ctx.Done()
	return ctx.Err()
}

// until asks for a page until it shows a text.
func until(t *testing.T, browser *http.Client, address, text string) string {
	t.Helper()
	for range 200 {
		if page := body(t, get(t, browser, address)); strings.Contains(page, text) {
			return page
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no %q at %s", text, address)
	return ""
}

func TestTail_isBegunAndEndedByItsButtonsAlone(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	s.LogCosts = true
	page := body(t, get(t, browser, web.URL+"/tail?tenant_id=acme"), "<button >Follow attempts of acme", "$0.01 for each",
		"a sample", "/tail/start")
	if asksAgain.MatchString(page) || len(f.asked) > 0 {
		t.Errorf("a look at the page follows: %v", f.asked)
	}
	form := url.Values{"tenant_id": {"acme"}, "endpoint_id": {""}}
	submit(t, browser, web.URL+"/tail/start", form)
	page = until(t, browser, web.URL+"/tail", "The latest of 1")
	for _, text := range []string{
		">following<", "attempts of acme", "webhook_1&lt;img", "some were left out", "followed for 1 minute: $0.01",
		"/tail/seen",
		"/delivery?delivery_id=msg_1", "/tail/stop",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in\n%s", text, page)
		}
	}
	if len(formsIn(t, page)) > 0 || !asksAgain.MatchString(page) || strings.Contains(page, "<img") {
		t.Errorf("a page that follows is\n%s", page)
	}
	again := submit(t, browser, web.URL+"/tail/start", url.Values{"tenant_id": {"globex"}}) // another tab
	body(t, again, "followed already")
	if got := get(t, browser, web.URL+"/tail/seen").StatusCode; got != http.StatusNoContent {
		t.Errorf("a page that is open is answered %d", got)
	}
	body(t, submit(t, browser, web.URL+"/tail/stop", url.Values{}), "has ended: somebody ended it here",
		"Follow attempts of acme", "The latest of 1")
	part := get(t, browser, web.URL+"/tail", func(r *http.Request) { r.Header.Set("Hx-Request", "true") })
	if part.StatusCode != stopAsking {
		t.Errorf("another tab is answered %d", part.StatusCode)
	}
	if want := []string{"follow {TenantID:acme EndpointID:}"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %v", f.asked)
	}
}

// Nothing but an id gets to AWS, and no page of another site gets a minute begun or prolonged.
//
// Threat of a page: another site begins or prolongs what costs by the minute. Held by: the console's own button begins
// it, and its own page keeps it.
func TestTail_isBegunForIdsAndByNobodyElse(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	takesIDsAlone(t, browser, web.URL+"/tail", web.URL+"/tail/start")
	stranger := &http.Client{Transport: browser.Transport}
	for _, path := range []string{"/tail", "/tail/seen", "/tail/start", "/tail/stop"} {
		if got := get(t, stranger, web.URL+path).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s of another site: %d", path, got)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("asked %v", f.asked)
	}
}

func TestTail_endsWithTheConsole(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	submit(t, browser, web.URL+"/tail/start", url.Values{})
	until(t, browser, web.URL+"/tail", "The latest of 1")
	s.Close()
	if s.tail.Look().Running {
		t.Error("it goes on")
	}
	body(t, submit(t, browser, web.URL+"/tail/start", url.Values{}), "is closing")
}

// takesIDsAlone gives the form of a page, and its button, what is no id. Both mark the field.
func takesIDsAlone(t *testing.T, browser *http.Client, page, act string) {
	t.Helper()
	for _, field := range []string{"tenant_id", "endpoint_id"} {
		wrong := url.Values{field: {`a" || $.x = "*`}}
		for name, resp := range map[string]*http.Response{
			"its form": get(t, browser, page+"?"+wrong.Encode()), "its button": submit(t, browser, act, wrong),
		} {
			found := formsIn(t, body(t, resp))
			if resp.StatusCode != http.StatusBadRequest || len(found) != 1 || !slices.Equal(found[0].invalid, []string{field}) {
				t.Errorf("%s, %s of %s: %s, %+v", field, name, page, resp.Status, found)
			}
		}
	}
}
