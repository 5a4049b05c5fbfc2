package console

import (
	std "cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// functions answers like a stack with one endpoint. Its owner and receiver wrote markup wherever they could.
type functions struct {
	sync.Mutex // the overview asks twice at the same time

	asked    []string
	err      error
	denied   string    // the function that the caller may not invoke
	measured float64   // in the last step of every curve
	reached  time.Time // by deployments

	written string         // by tenants and receivers; markup where it is empty
	said    map[string]any // answers in place of the usual ones, by function and action
}

func (f *functions) Read(_ context.Context, w stack.Window, curves []stack.Curve) ([][]float64, error) {
	f.asked = append(f.asked, "metrics")
	all := make([][]float64, len(curves))
	for n := range all {
		all[n] = append(slices.Repeat([]float64{math.NaN()}, w.Steps-1), f.measured)
	}
	return all, nil
}

func (f *functions) Attempts(_ context.Context, id string, _, _ time.Time) ([]stack.Attempt, error) {
	f.asked = append(f.asked, "attempts of "+id)
	text := std.Or(f.written, markup)
	return []stack.Attempt{{
		At: time.Date(2026, 1, 2, 10, 30, 0, 0, time.UTC), Number: 2, Outcome: delivery.VerdictRetry,
		Reason: delivery.Reason("timeout" + text), Millis: 1500, Next: 80400 * time.Millisecond,
	}}, f.err
}

func (f *functions) Shares(context.Context, time.Time, time.Time) (stack.Shares, error) {
	f.asked = append(f.asked, "shares")
	text := std.Or(f.written, markup)
	return stack.Shares{Sample: 1, Parts: []stack.Share{
		{ID: "acme", Attempts: 30, Millis: 1000}, {ID: text, Attempts: 10, Millis: 9000},
	}}, f.err
}

func (f *functions) EndpointShares(
	_ context.Context, tenantID string, _, _ time.Time,
) (stack.Shares, error) {
	f.asked = append(f.asked, "shares of endpoints of "+tenantID)
	return stack.Shares{Sample: 1, Parts: []stack.Share{{ID: "webhook_1", Attempts: 30, Millis: 1000}}}, f.err
}

func (f *functions) LogBytes(context.Context, stack.Window) (float64, error) {
	f.asked = append(f.asked, "bytes")
	return 12e6, f.err
}

func (f *functions) Outcomes(_ context.Context, of stack.Tailed, w stack.Window) (stack.Outcomes, error) {
	f.asked = append(f.asked, fmt.Sprintf("outcomes of %+v in %s", of, w.End().Sub(w.From)))
	counts := func(n float64) []float64 { return slices.Repeat([]float64{n}, w.Steps) }
	return stack.Outcomes{Window: w, Sample: 1, Read: 34e6, Counts: map[delivery.Verdict][]float64{
		delivery.VerdictAcknowledged: counts(100), delivery.VerdictDead: counts(2),
	}}, f.err
}

func (f *functions) Alarms(_ context.Context, since time.Time) ([]stack.Mark, error) {
	f.asked = append(f.asked, "alarms")
	return []stack.Mark{{At: since.Add(time.Minute), Text: "DeathsAlarm" + f.written}}, f.err
}

func (f *functions) Deployments(_ context.Context, since time.Time) ([]stack.Deployment, time.Time, error) {
	f.asked = append(f.asked, "deployments")
	text := std.Or(f.written, markup)
	return []stack.Deployment{{
		Act: "update", From: since.Add(time.Minute), Until: since.Add(5 * time.Minute), Version: "1.1.0",
		State: stack.RolledBack, Reason: text,
	}}, f.reached, f.err
}

const markup = `<img src=x onerror=alert(1)>`

func (f *functions) Invoke(_ context.Context, q stack.Question) (jsontext.Value, error) {
	request, err := json.Marshal(q.Request, json.OmitZeroStructFields(true))
	if err != nil {
		return nil, err
	}
	sent := jsontext.Value(request)
	if err := sent.Canonicalize(); err != nil {
		return nil, err
	}
	f.Lock()
	defer f.Unlock()
	f.asked = append(f.asked, string(q.Function)+" "+q.Action+" "+string(sent))
	if string(q.Function) == f.denied {
		return nil, fmt.Errorf("%w: no right", exit.ErrDenied)
	}
	if f.err != nil {
		return nil, f.err
	}
	answer, known := f.answer(named(q.Function, q.Action))
	if !known {
		return nil, fmt.Errorf("unexpected %s %s", q.Function, q.Action)
	}
	if sum, is := answer.(api.Summary); is && q.Request == any(api.SummaryRequest{Causes: true}) {
		causes, _ := f.answer(to(api.ListCauses, api.Causes{}).to)
		sum.Causes = new(causes.(api.Causes))
		answer = sum
	}
	return api.EncodeAnswer(answer)
}

// answer is the answer that was given to say, or the usual one.
func (f *functions) answer(action string) (answer any, known bool) {
	answer, known = f.said[action]
	if !known {
		answer, known = usual(std.Or(f.written, markup))[action]
	}
	return answer, known
}

func (f *functions) May(_ context.Context, function string) error {
	f.asked = append(f.asked, "may "+function)
	if function == f.denied {
		return fmt.Errorf("%w: no right", exit.ErrDenied)
	}
	return f.err
}

func (f *functions) Acts(context.Context, time.Time) ([]stack.Act, bool, error) {
	f.asked = append(f.asked, "acts")
	text := std.Or(f.written, markup)
	act := func(action string) stack.Act {
		return stack.Act{At: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Line: audit.Line{
			RequestID: "r1", OperatorClaimed: "bob" + text, Action: action, EndpointID: "webhook_1", Reason: text,
		}}
	}
	look := act("dead_letter")
	look.Function = string(api.Inspect)
	return []stack.Act{act("pause"), act("replay"), look, act("replay"), act("replay")}, true, f.err
}

func (f *functions) OfTenant(_ context.Context, tenantID string, now time.Time) (stack.TenantActs, error) {
	text := std.Or(f.written, markup)
	made := func(id string) stack.Act {
		return stack.Act{At: now.Add(-time.Minute), Line: audit.Line{
			KeyID: "01" + text, Action: "create", TenantID: tenantID, EndpointID: id, Changed: []string{"url"},
		}}
	}
	paused := stack.Act{At: now.Add(-time.Hour), Line: audit.Line{
		Function: string(api.Control), Action: "pause", TenantID: tenantID, OperatorClaimed: "bob" + text, Reason: text,
	}}
	acts := []stack.Act{paused, made("webhook_1"), made("webhook_2")}
	return stack.TenantActs{Acts: acts, From: now.AddDate(0, 0, -400)}, f.err
}

// open starts a console and a browser that has its cookie. The server's URL is the console's own name and path.
func open(t *testing.T, f *functions) (*httptest.Server, *http.Client, *Server) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	c := Config{
		Stack: f, Metrics: f, Trail: f, Log: f, Follow: f.Follow, Changes: f, Operator: "ann", Now: time.Now,
		Name:  "herald-test",
		Place: "herald-test in eu-west-1, account 123456789012",
	}
	s, err := New(c, web.Listener)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = s.Handler()
	web.Start()
	t.Cleanup(web.Close)
	t.Cleanup(s.Close)
	web.URL = "http://" + s.hosts[0] + s.site.Base
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { // as browsers resolve *.localhost
			return new(net.Dialer).DialContext(ctx, network, web.Listener.Addr().String())
		},
	}}
	if got := get(t, browser, s.URL()); got.StatusCode != http.StatusOK {
		t.Fatalf("the printed address answers %s", got.Status)
	}
	f.asked = nil
	return web, browser, s
}

// get asks for a page as a browser does, or with a change.
func get(t *testing.T, c *http.Client, address string, changes ...func(*http.Request)) *http.Response {
	t.Helper()
	return submit(t, c, address, nil, changes...)
}

// submit sends a form as the console's own page does, or with a change. Without a form it asks for a page.
func submit(
	t *testing.T, c *http.Client, address string, form url.Values, changes ...func(*http.Request),
) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Method = http.MethodPost
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", "http://"+req.Host)
	}
	for _, change := range changes {
		change(req)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// body is that of an answer. It fails the test for each text that the body does not show.
func body(t *testing.T, resp *http.Response, shows ...string) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range shows {
		if !strings.Contains(string(b), text) {
			t.Errorf("no %q in\n%s", text, b)
		}
	}
	return string(b)
}
