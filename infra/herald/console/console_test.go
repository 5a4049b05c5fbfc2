package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// functions answers like a stack with one endpoint, whose owner and receiver wrote markup wherever they could.
type functions struct {
	asked   []string
	err     error
	metrics measured
}

const markup = `<img src=x onerror=alert(1)>`

var answers = map[string]string{
	"summary": `{"endpoints":{"states":{"open":1}},"waiting":{"count":1234567},"dead_letters":{"dead":{"count":3}},
		"queues":{"EventsQueue":{"visible":1,"in_flight":0,"delayed":0}}}`,
	"endpoints": `{"data":[{"tenant_id":"%[1]s","endpoint_id":"webhook_1","host":"%[1]s","description":"%[1]s",
		"state":"open","last_reason":"timeout","recent":{"attempts":10,"successes":5}}],"next_cursor":"abc"}`,
	"endpoint": `{"tenant_id":"acme","endpoint_id":"webhook_1","url":"https://%[1]s/","health":{"state":"open"}}`,
	"deliveries": `{"data":[{"delivery_id":"msg_1","event_type":"%[1]s","state":"waiting"}],"next_cursor":null,
		"note":"%[1]s"}`,
	"delivery":        `{"delivery_id":"msg_1","event_type":"%[1]s","state":"dead","endpoint_id":"webhook_1"}`,
	"dead_letters":    `{"data":[{"delivery_id":"msg_1","tenant_id":"%[1]s","status":"dead"}],"next_cursor":null}`,
	"dead_letter":     `{"delivery_id":"msg_1","body":"%[1]s","history":[{"reason":"%[1]s"}],"headers":{}}`,
	"rejected_events": `{"data":[{"message_id":"m_1","reason":"%[1]s","body":"%[1]s","bytes":12}],"next_cursor":null}`,
	"jobs":            `{"data":[{"job_id":"job_1","act":"replay","operator":"%[1]s"}],"next_cursor":null}`,
	"job":             `{"job_id":"job_1","act":"replay","state":"running","selected":10,"done":5,"left":5}`,
	"list":            `{"data":[{"key_id":"01","description":"%[1]s"}],"next_cursor":null}`,
	"start_job":       `{"selected":12,"ready":10,"refused":{"endpoint_deleted":2},"job":{"job_id":"job_1"}}`,
}

func (f *functions) Ask(_ context.Context, function, action string, fields map[string]any, out any) error {
	request, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	f.asked = append(f.asked, function+" "+action+" "+string(request))
	if f.err != nil || out == nil {
		return f.err
	}
	answer, ok := answers[action]
	if !ok {
		answer = `{"data":[{"result":"replayed"},{"result":"refused","reason":"deleted"}]}`
	}
	return json.Unmarshal([]byte(strings.ReplaceAll(answer, "%[1]s", markup)), out)
}

// measured is one value in the last step of every curve, or nothing.
type measured struct{ value float64 }

func (m measured) Read(_ context.Context, w Window, curves []Curve) ([][]float64, error) {
	all := make([][]float64, len(curves))
	for n := range all {
		all[n] = slices.Repeat([]float64{math.NaN()}, w.Steps)
		all[n][w.Steps-1] = m.value
	}
	return all, nil
}

// open starts a console and a browser that has its cookie.
func open(t *testing.T, f *functions) (*httptest.Server, *http.Client, *Server) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	s, err := New(Config{
		Stack: f, Metrics: f.metrics, Name: "herald-test", Operator: "ann", Now: time.Now,
	}, web.Listener)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = s.Handler()
	web.Start()
	t.Cleanup(web.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	if got := get(t, browser, s.URL()); got.StatusCode != http.StatusOK {
		t.Fatalf("the printed address answers %s", got.Status)
	}
	f.asked = nil
	return web, browser, s
}

func get(t *testing.T, c *http.Client, address string) *http.Response {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPages_showMarkupAsTextInAtMostFiveCalls(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	queries := map[string]string{"/{$}": "/", "/deliveries": "/deliveries?event_id=e", "/keys": "/keys?tenant_id=acme"}
	for path := range s.views() {
		t.Run(path, func(t *testing.T) {
			f.asked = nil
			address := web.URL + path
			if q, ok := queries[path]; ok {
				address = web.URL + q
			}
			resp := get(t, browser, address)
			page := body(t, resp)
			if resp.StatusCode != http.StatusOK || !strings.Contains(page, "</html>") {
				t.Fatalf("%s, ends with %q", resp.Status, page[max(0, len(page)-200):])
			}
			if strings.Contains(page, "<img") {
				t.Error("markup of a tenant or receiver is markup of the page")
			}
			if (len(f.asked) == 0) != (path == "/traffic") || len(f.asked) > 5 {
				t.Errorf("took %d calls: %v", len(f.asked), f.asked)
			}
		})
	}
}

func TestGuard_letsInOnlyItsOwnPages(t *testing.T) {
	f := &functions{}
	web, browser, s := open(t, f)
	post := func(c *http.Client, host, origin string) int {
		req, err := http.NewRequest(http.MethodPost, web.URL+"/control/pause", strings.NewReader("endpoint_id=webhook_1"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", origin)
		req.Host = host
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for name, got := range map[string]int{
		"no cookie":            post(http.DefaultClient, s.host, web.URL),
		"a foreign host":       post(browser, "evil.example", web.URL),
		"a foreign origin":     post(browser, s.host, "https://evil.example"),
		"no origin":            post(browser, s.host, ""),
		"a wrong token":        get(t, http.DefaultClient, web.URL+"/?token=guess").StatusCode,
		"a page, no cookie":    get(t, http.DefaultClient, web.URL+"/dead").StatusCode,
		"a script, no cookie":  get(t, http.DefaultClient, web.URL+"/static/htmx.min.js").StatusCode,
		"another port's token": get(t, &http.Client{Jar: other(t, web.URL)}, web.URL+"/").StatusCode,
	} {
		if got != http.StatusForbidden {
			t.Errorf("%s: %d, want 403", name, got)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("asked the functions: %v", f.asked)
	}
	if got := post(browser, s.host, web.URL); got != http.StatusOK || !strings.HasPrefix(f.asked[0], "control pause") {
		t.Errorf("its own form answers %d and asked %v", got, f.asked)
	}
	page := get(t, browser, web.URL+"/").Header
	if referrer := page.Get("Referrer-Policy"); referrer != "same-origin" { // else browsers send the Origin "null"
		t.Errorf("referrer policy %q", referrer)
	}
	policy := page.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

// other has a cookie of another console on the same host.
func other(t *testing.T, address string) http.CookieJar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(u, []*http.Cookie{{Name: "herald_console_" + u.Port(), Value: "of another start"}})
	return jar
}

func TestReplayOfTickedLetters_leadsToAPageThatShows(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	req, err := http.NewRequest(http.MethodPost, web.URL+"/replay", strings.NewReader("delivery_id=msg_1"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", web.URL)
	resp, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	want := []string{`replay deliveries {"delivery_ids":["msg_1"]}`, `inspect dead_letters {"status":"dead"}`}
	if diff := cmp.Diff(want, f.asked); diff != "" { // without a selection, dead_letters refuses
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestReplayOfAFilter_countsFirstAndStartsWithTheSameToken(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	submit := func(form url.Values) (string, *http.Response) {
		req, err := http.NewRequest(http.MethodPost, web.URL+"/start", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", web.URL)
		resp, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return body(t, resp), resp
	}
	page, resp := submit(url.Values{"tenant_id": {"acme"}})
	if !strings.Contains(f.asked[0], `"dry_run":true`) || !strings.Contains(page, "Replay all 10") {
		t.Fatalf("asked %v and shows\n%s", f.asked, page)
	}
	token := resp.Request.URL.Query().Get("token")
	f.asked = nil
	_, resp = submit(url.Values{"tenant_id": {"acme"}, "token": {token}})
	if !strings.Contains(f.asked[0], token) || strings.Contains(f.asked[0], "dry_run") || resp.Request.URL.Path != "/job" {
		t.Errorf("asked %v and leads to %s", f.asked, resp.Request.URL)
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
		"denied": {fmt.Errorf("%w: you have no right to do that", ErrDenied), http.StatusForbidden, "You may not do that"},
		"broken": {errors.New("inspect failed: <b>boom</b>"), http.StatusBadGateway, "inspect failed: &lt;b&gt;boom"},
	} {
		f.err = c.err
		resp := get(t, browser, web.URL+"/")
		if page := body(t, resp); resp.StatusCode != c.status || !strings.Contains(page, c.says) {
			t.Errorf("%s: %s\n%s", name, resp.Status, page)
		}
	}
}

func TestPretty_changesNothingButSpace(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":"<i>","a":12345678901234567890}`: "{\n  \"b\": \"<i>\",\n  \"a\": 12345678901234567890\n}", "not {": "not {",
	} {
		if got := pretty(in); got != want {
			t.Errorf("%s is shown as %s", in, got)
		}
	}
}

func TestTraffic_showsWhatWasMeasuredOrSaysThatNothingWas(t *testing.T) {
	for value, says := range map[float64]string{
		0.25:       `First attempts that succeeded</th><td>share</td><td>%</td><td class="n">25<`,
		math.NaN(): "No metrics in the last day",
	} {
		web, browser, _ := open(t, &functions{metrics: measured{value}})
		page := body(t, get(t, browser, web.URL+"/traffic?span=day"))
		if !strings.Contains(page, says) || strings.Contains(page, "<svg") == math.IsNaN(value) {
			t.Errorf("%v: not %q\n%s", value, says, page)
		}
	}
}

func TestHtmx_isTheReleaseThatItsNameSays(t *testing.T) {
	script, err := static.ReadFile("static/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	const release = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717" // htmx.org 2.0.11, dist/htmx.min.js
	if sum := sha256.Sum256(script); hex.EncodeToString(sum[:]) != release {
		t.Errorf("SHA-256 %x, want %s", sum, release)
	}
}
