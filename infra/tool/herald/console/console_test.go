package console

import (
	std "cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// queries are the addresses of pages that show nothing by their path alone.
var queries = map[string]string{
	"/{$}": "/", "/deliveries": "/deliveries?event_id=e", "/keys": "/keys?tenant_id=acme",
	"/tenant": "/tenant?tenant_id=acme", "/tenant/acts": "/tenant/acts?tenant_id=acme",
	"/event":       "/event?event_id=e&tenant_id=acme&rejected=1",
	"/subscribers": "/subscribers?event_type=user.created", "/confirm": "/confirm?act=replay&endpoint_id=webhook_1",
}

func TestPages_showMarkupAsTextInAtMostFiveCalls(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	lists := map[string][]string{ // of each list that a page has: a misspelled key in its template is an empty table
		"/{$}": {"timeout", ">3</bdi>"}, "/endpoints": {"timeout"}, "/endpoint": {">waiting<", ">msg_1<"},
		"/deliveries": {">waiting<", `class="note"><bdi>&lt;img`}, "/dead": {"Choose msg_1"}, "/rejected": {"Choose m_1"},
		"/jobs": {"job_1", "cursor=page"}, "/job": {"msg_9"}, "/keys": {">01<"}, "/acts": {"webhook_1", ">bob&lt;"},
		"/subscribers": {"webhook_1", ">user.*, &lt;img"}, "/confirm": {"Replay 10 dead letters?", "2 endpoint_deleted"},
		"/tenant": {"in trouble", ">01<", "rate_limit", "act=compromised"}, "/tenant/acts": {"Pause 1 endpoint", ">bob&lt;"},
	}
	for path := range s.views() {
		t.Run(path, func(t *testing.T) {
			f.asked = nil
			address := web.URL + path
			if q, ok := queries[path]; ok {
				address = web.URL + q
			}
			resp := get(t, browser, address)
			page := body(t, resp, lists[path]...)
			if resp.StatusCode != http.StatusOK || !strings.Contains(page, "</html>") {
				t.Fatalf("%s, ends with %q", resp.Status, page[max(0, len(page)-200):])
			}
			if strings.Contains(page, "<img") {
				t.Error("markup of a tenant or receiver is markup of the page")
			}
			if len(f.asked) == 0 && path != "/tail" && path != "/chart" || len(f.asked) > 5 {
				t.Errorf("took %d calls: %v", len(f.asked), f.asked)
			}
		})
	}
}

func TestGuard_letsInOnlyItsOwnPages(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	stranger := &http.Client{Transport: browser.Transport}
	form := url.Values{"endpoint_id": {"webhook_1"}}
	origin := "http://" + s.hosts[0]
	post := func(c *http.Client, origin string) int {
		change := func(r *http.Request) { r.Header.Set("Origin", origin) }
		return submit(t, c, web.URL+"/control/pause", form, change).StatusCode
	}
	foreign := func(r *http.Request) { // a site that leads to loopback, and has got hold of the cookie
		r.Host = "evil.example"
		r.Header.Set("Origin", "http://"+r.Host)
		r.AddCookie(&http.Cookie{Name: cookie, Value: s.token})
	}
	for name, got := range map[string]int{
		"no cookie":            post(stranger, origin),
		"a foreign host":       submit(t, browser, web.URL+"/control/pause", form, foreign).StatusCode,
		"a page, foreign host": get(t, browser, web.URL+"/dead", foreign).StatusCode,
		"a foreign origin":     post(browser, "https://evil.example"),
		"no origin":            post(browser, ""),
		"a wrong token":        get(t, stranger, web.URL+"/?token=guess").StatusCode,
		"a page, no cookie":    get(t, stranger, web.URL+"/dead").StatusCode,
		"a script, no cookie":  get(t, stranger, web.URL+"/static/htmx.min.js").StatusCode,
		"another start's token": get(t, stranger, web.URL+"/", func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: cookie, Value: "of another start"})
		}).StatusCode,
		"its address's origin": post(browser, "http://"+s.hosts[1]),
	} {
		if got != http.StatusForbidden {
			t.Errorf("%s: %d, want 403", name, got)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("asked the functions: %v", f.asked)
	}
	if got := post(browser, origin); got != http.StatusOK || !strings.HasPrefix(f.asked[0], "control pause") {
		t.Errorf("its own form answers %d and asked %v", got, f.asked)
	}
	page := get(t, browser, web.URL+"/").Header
	if referrer := page.Get("Referrer-Policy"); referrer != "same-origin" { // else browsers send the Origin "null"
		t.Errorf("referrer policy %q", referrer)
	}
	for _, other := range []string{"Opener", "Resource"} { // not even a style sheet is for another site's page
		if got := page.Get("Cross-Origin-" + other + "-Policy"); got != "same-origin" {
			t.Errorf("%s policy %q", other, got)
		}
	}
	policy := page.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

// A browser sends a cookie to all ports of a name, and so to another user's server on the machine. The cookie must be
// bound to a path that such a server cannot know, under both names of the console.
func TestCookie_isForNoOtherPathAndNoOtherStart(t *testing.T) {
	_, browser, s := open(t, &functions{})
	_, _, again := open(t, &functions{})
	get(t, browser, "http://"+s.hosts[1]+s.site.Base+"/?token="+s.token)
	for _, host := range []string{s.hosts[0], s.hosts[1], "localhost", "127.0.0.1:1", again.hosts[0], again.hosts[1]} {
		for _, path := range []string{"", "/", "/dead", "/static/style.css", again.site.Base + "/", s.site.Base + "x/"} {
			if sent := browser.Jar.Cookies(&url.URL{Scheme: "http", Host: host, Path: path}); len(sent) > 0 {
				t.Errorf("%s%s gets %v", host, path, sent)
			}
		}
	}
	for _, host := range s.hosts {
		if sent := browser.Jar.Cookies(&url.URL{Scheme: "http", Host: host, Path: s.site.Base + "/dead"}); len(sent) != 1 {
			t.Errorf("the console itself gets %v at %s", sent, host)
		}
	}
	if len(s.site.Base) < 20 || s.site.Base == again.site.Base { // 5 bits each: no other server guesses it
		t.Errorf("paths %s and %s", s.site.Base, again.site.Base)
	}
}

// A browser that does not resolve *.localhost gets in by the address.
func TestGuard_letsInByTheAddressToo(t *testing.T) {
	web, browser, s := open(t, &functions{})
	address := "http://" + web.Listener.Addr().String()
	for _, path := range []string{
		"/dead", s.site.Base + "/dead", "/?token=" + s.token, "/", s.site.Base + "?token=" + s.token,
	} {
		if got := get(t, browser, address+path).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s without the token, or the path: %d", path, got)
		}
	}
	got := get(t, browser, address+s.site.Base+"/?token="+s.token)
	if got.StatusCode != http.StatusOK || got.Request.URL.Path != s.site.Base+"/" {
		t.Errorf("%s at %s", got.Status, got.Request.URL)
	}
}

var linked = regexp.MustCompile(`(?:href|action|src|hx-get)="([^"]*)"`)

// A link that leaves the path leads nowhere, and tells no other server the path.
func TestPages_linkBelowTheirPathOnly(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	seen := 0
	for path := range s.views() {
		resp := get(t, browser, web.URL+std.Or(queries[path], path))
		for _, link := range linked.FindAllStringSubmatch(body(t, resp), -1) {
			if seen++; !strings.HasPrefix(link[1], s.site.Base+"/") && link[1] != "#content" {
				t.Errorf("%s links to %s", path, link[1])
			}
		}
	}
	failed := submit(t, browser, web.URL+"/start", url.Values{}) // no question was asked
	for _, link := range linked.FindAllStringSubmatch(body(t, failed), -1) {
		if !strings.HasPrefix(link[1], s.site.Base+"/") && link[1] != "#content" {
			t.Errorf("a failure links to %s", link[1])
		}
	}
	if seen < 100 {
		t.Errorf("saw %d links", seen)
	}
}

func TestReplayOfTickedLetters_leadsToAPageThatShows(t *testing.T) {
	f := said(twoOfEach()...)
	web, browser, _ := open(t, f)
	page := body(t, get(t, browser, web.URL+"/confirm?act=replay&delivery_id=msg_1&delivery_id=msg_2"), "Replay 2 dead")
	f.asked = nil
	submit(t, browser, web.URL+"/start", hidden(page))
	want := []string{
		`replay deliveries {"delivery_ids":["msg_1","msg_2"]}`, "may replay", "may replaydelete",
		`inspect dead_letters {"status":"dead"}`,
	}
	if diff := cmp.Diff(want, f.asked); diff != "" { // without a selection, dead_letters refuses
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestPages_sayWhyThereIsNothingToSee(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	for name, c := range map[string]struct {
		err    error
		status int
		says   string
	}{
		"denied": {fmt.Errorf("%w: no right", exit.ErrDenied), http.StatusForbidden,
			"You are not allowed to do that.</b> <bdi>denied: no right"},
		"broken": {errors.New("inspect failed: <b>boom</b>"), http.StatusBadGateway,
			`"alert"><bdi>inspect failed: &lt;b&gt;boom`},
	} {
		f.err, f.asked = c.err, nil
		resp := get(t, browser, web.URL+"/")
		if body(t, resp, c.says); resp.StatusCode != c.status || len(f.asked) != 2 {
			t.Errorf("%s: %s, asked %v", name, resp.Status, f.asked)
		}
	}
}

func TestButtons_areGreyWhereTheCallerMayNotPressThem(t *testing.T) {
	f := &functions{denied: "control"}
	web, browser, _ := open(t, f)
	const page, off = "/endpoint?endpoint_id=webhook_1", `<button disabled aria-describedby="denied">Pause`
	body(t, get(t, browser, web.URL+page), off, `id="denied">`, "no right")
	form := url.Values{"endpoint_id": {"webhook_1"}}
	if resp := submit(t, browser, web.URL+"/control/pause", form); resp.StatusCode != http.StatusForbidden {
		t.Errorf("pressed all the same, it answers %s", resp.Status)
	}
	f.denied = ""
	if shown := body(t, get(t, browser, web.URL+page)); strings.Contains(shown, "disabled") {
		t.Error("a right that was granted goes unnoticed")
	}
}
