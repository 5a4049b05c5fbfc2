package console

import (
	std "cmp"
	"context"
	"encoding/json"
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

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/edges/audit"
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

	written string            // by tenants and receivers; markup where it is empty
	said    map[string]string // answers in place of the usual ones, by action
	refused map[string]error  // by action
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

func (f *functions) Shares(context.Context, time.Time, time.Time) ([]stack.Share, error) {
	f.asked = append(f.asked, "shares")
	text := std.Or(f.written, markup)
	return []stack.Share{
		{TenantID: "acme", Attempts: 30, Millis: 1000}, {TenantID: text, Attempts: 10, Millis: 9000},
	}, f.err
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

var answering = map[string]string{
	"causes": `{"data":[{"tenant_id":"acme","endpoint_id":"webhook_1","host":"%[1]s","description":"%[1]s",
		"reason":"http_5xx","count":3}]}`,
	"summary": `{"endpoints":{"states":{"open":1,"flapping":4}},"waiting":{"count":1234567},
		"dead_letters":{"dead":{"count":3}},"queues":{"EventsQueue":{"visible":1,"in_flight":0,"delayed":0}}}`,
	"endpoints": `{"data":[{"tenant_id":"%[1]s","endpoint_id":"webhook_1","host":"%[1]s","description":"%[1]s",
		"state":"open","last_reason":"timeout","recent":{"attempts":10,"successes":5}}],"next_cursor":"abc"}`,
	"endpoint": `{"tenant_id":"acme","endpoint_id":"webhook_1","url":"https://%[1]s/","description":"%[1]s",
		"health":{"state":"open","paused_by":"%[1]s","pause_reason":"%[1]s","failures":2,"last_reason":"%[1]s"}}`,
	"deliveries": `{"data":[{"delivery_id":"msg_1","event_type":"%[1]s","state":"waiting"}],"next_cursor":null,
		"note":"%[1]s"}`,
	"delivery": `{"delivery_id":"msg_1","event_type":"%[1]s","state":"dead","endpoint_id":"webhook_1",
		"tenant_id":"%[1]s","event_id":"%[1]s","reason":"%[1]s","trace_id":"%[1]s",
		"created_at":"2026-01-02T10:00:00Z","updated_at":"2026-01-02T15:04:05Z"}`,
	"dead_letters": `{"data":[{"delivery_id":"msg_1","tenant_id":"%[1]s","status":"dead"}],"next_cursor":null}`,
	"dead_letter": `{"delivery_id":"msg_1","body":"%[1]s","headers":{},"event_type":"%[1]s",
		"history":[{"reason":"%[1]s","detail":"%[1]s","died_at":"2026-01-02T15:04:05Z"}]}`,
	"rejected_events": `{"data":[{"message_id":"m_1","reason":"%[1]s","body":"%[1]s","bytes":12}],"next_cursor":null}`,
	"jobs":            `{"data":[{"job_id":"job_1","act":"replay","operator":"%[1]s"}],"next_cursor":"page 2"}`,
	"job": `{"job_id":"job_1","act":"replay","state":"running","operator":"%[1]s",
		"selector":{"reason":"%[1]s"},"started_at":"2026-01-02T15:04:05Z","selected":10,"done":5,"left":2,
		"refused":{"endpoint_deleted":3}}`,
	"job_outcome":  `{"sent":3,"delivered":2,"dead_again":1,"under_way":0,"discarded":0,"unknown":0,"next_cursor":"c"}`,
	"job_failures": `{"data":[{"id":"msg_9","result":"refused","reason":"%[1]s"}],"next_cursor":"page 2"}`,
	"list":         `{"data":[{"key_id":"01","description":"%[1]s"}],"next_cursor":null}`,
	"start_job": `{"selected":12,"ready":10,"refused":{"endpoint_deleted":2},"until":"2026-01-03T08:00:00.5Z",
		"job":{"job_id":"job_1"}}`,
}

func (f *functions) Invoke(_ context.Context, q stack.Question) (jsontext.Value, error) {
	function, action := string(q.Function), q.Action
	request, err := jsonv2.Marshal(q.Request, jsonv2.OmitZeroStructFields(true), jsonv2.Deterministic(true))
	if err != nil {
		return nil, err
	}
	f.Lock()
	defer f.Unlock()
	f.asked = append(f.asked, function+" "+action+" "+string(request))
	if function == f.denied {
		return nil, fmt.Errorf("%w: no right", exit.ErrDenied)
	}
	if f.err != nil {
		return nil, f.err
	}
	if err := f.refused[action]; err != nil {
		return nil, err
	}
	answer, ok := f.answer(action)
	if causes, _ := f.answer("causes"); strings.Contains(string(request), `"causes":true`) {
		answer = strings.TrimSuffix(answer, "}") + `,"causes":` + causes + "}"
	}
	if !ok {
		answer = `{"data":[{"result":"replayed"},{"result":"refused","reason":"deleted"}]}`
	}
	text, err := json.Marshal(std.Or(f.written, markup))
	if err != nil {
		return nil, err
	}
	inner := string(text[1 : len(text)-1]) // it stands in a string
	return jsontext.Value(strings.ReplaceAll(answer, "%[1]s", inner)), nil
}

// answer is the text that was given to say, or the usual one.
func (f *functions) answer(action string) (text string, ok bool) {
	text, ok = f.said[action]
	if !ok {
		text, ok = answering[action]
	}
	return text, ok
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
	return []stack.Act{act("pause"), act("replay"), act("replay"), act("replay")}, true, f.err
}

// open starts a console and a browser that has its cookie. The server's URL is the console's own name and path.
func open(t *testing.T, f *functions) (*httptest.Server, *http.Client, *Server) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	c := Config{
		Stack: f, Metrics: f, Trail: f, Log: f, Changes: f, Name: "herald-test", Operator: "ann", Now: time.Now,
		Place: "herald-test in eu-west-1, account 123456789012",
	}
	s, err := New(c, web.Listener)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = s.Handler()
	web.Start()
	t.Cleanup(web.Close)
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
