package commands

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/herald-webhooks/herald/infra/tool/herald/console"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// values are the fields of an answer, each with a value that no other has, as a page would show it.
type values struct {
	shown map[string]string // by the path of the field
	n     int
}

// fill gives each field under a path a value.
func (d *values) fill(v reflect.Value, path string) {
	d.n++
	at, isTime := v.Addr().Interface().(*time.Time)
	switch {
	case isTime:
		*at = time.Date(2026, 1, d.n, 3, 4, 5, 0, time.UTC)
		d.shown[path] = at.Format("2006-01-02 15:04:05 UTC")
	case v.Kind() == reflect.String:
		d.shown[path] = "word" + strconv.Itoa(100+d.n)
		v.SetString(d.shown[path])
	case v.Kind() == reflect.Int || v.Kind() == reflect.Int64:
		v.SetInt(int64(500 + d.n))
		d.shown[path] = strconv.Itoa(500 + d.n)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.fill(v.Elem(), path)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		d.fill(v.Index(0), path)
	case v.Kind() == reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		d.fill(key, path+" key")
		d.fill(value, path)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case v.Kind() == reflect.Struct:
		for n := range v.NumField() {
			d.fill(v.Field(n), strings.TrimPrefix(path+"."+v.Type().Field(n).Name, "."))
		}
	}
}

// distinct is an answer with another value in each field, and the values.
func distinct[T any]() (answer T, shown map[string]string) {
	d := values{shown: map[string]string{}}
	d.fill(reflect.ValueOf(&answer).Elem(), "")
	return answer, d.shown
}

// Each field of an answer is on the page of the console and on the command line, or says here why not.
func TestShow_hasTheFieldsThatTheConsoleHas(t *testing.T) {
	endpoint, ofEndpoint := distinct[api.Endpoint]()
	delete(ofEndpoint, "Health.Recent.Successes") // a share of the attempts is shown
	one, ofDelivery := distinct[api.Delivery]()
	one.State, one.EndpointID = delivery.Retrying, endpoint.EndpointID
	ofDelivery["State"], ofDelivery["EndpointID"] = "retrying", endpoint.EndpointID
	stopped, ofJob := distinct[api.Job]()
	stopped.State, stopped.Act = job.Stopped, job.Replay
	stopped.Selector.EndpointID = endpoint.EndpointID
	ofJob["State"], ofJob["Act"], ofJob["Selector.EndpointID"] = "stopped", "Replay of dead letters", endpoint.EndpointID
	ofJob["Selector.Since"] = stopped.Selector.Since.Format(time.RFC3339)
	ofJob["Selector.Until"] = stopped.Selector.Until.Format(time.RFC3339)
	ofJob["Selector.PublishedSince"] = stopped.Selector.PublishedSince.Format(time.RFC3339)
	ofJob["Selector.PublishedUntil"] = stopped.Selector.PublishedUntil.Format(time.RFC3339)
	letter, ofLetter := distinct[api.OpenedDeadLetter]()
	delete(ofLetter, "History.MessageID") // of a queue's message, which is gone
	f := fakeOf(to(api.GetEndpoint, endpoint), to(api.GetDelivery, one), to(api.GetJob, stopped),
		to(api.OpenDeadLetter, letter),
		to(api.ListDeliveries, api.DeliveryList{}), to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1"})),
		to(api.GetJobOutcome, api.JobOutcome{Sent: 7, UnderWay: 5, Held: 3}),
		to(api.ListJobFailures, listOf(api.JobFailure{ID: "msg_9"})))
	ofJob["Outcome.Held"] = "under way, of these 3 held for their endpoints"
	for line, c := range map[string]struct {
		page  string
		shown map[string]string
	}{
		"endpoints show acme/crm": {"/endpoint?endpoint_id=webhook_1&tenant_id=acme", ofEndpoint},
		"deliveries show msg_1":   {"/delivery?delivery_id=msg_1", ofDelivery},
		"jobs show job_1":         {"/job?job_id=job_1", ofJob},
		"dead show msg_1":         {"/letter?delivery_id=msg_1", ofLetter},
	} {
		out := f.ends(t, exit.Done, line)
		page := f.page(t, c.page)
		for path, value := range c.shown {
			if !strings.Contains(page, value) || !strings.Contains(out, value) {
				t.Errorf("%s: %s is %s on the page: %t, on the command line: %t", line, path, value,
					strings.Contains(page, value), strings.Contains(out, value))
			}
		}
		if t.Failed() {
			t.Logf("%s\n%s", out, page)
		}
	}
}

// Without a response there is no status: a page says so, as a table does.
func TestShow_saysWhereThereWasNoAnswer(t *testing.T) {
	f := fakeOf(to(api.GetDelivery, api.Delivery{
		DeliveryID: "msg_1", State: delivery.Dead, Attempts: 10, Reason: delivery.ReasonTimeout,
	}))
	f.ends(t, exit.Done, "deliveries show msg_1", "no answer: timeout")
	if page := f.page(t, "/delivery?delivery_id=msg_1"); !strings.Contains(page, "no answer: timeout") {
		t.Error(page)
	}
}

// A text of a tenant begins no line of its own.
func TestShow_keepsTextsInTheirLines(t *testing.T) {
	f := fakeOf(to(api.GetEndpoint, api.Endpoint{Description: "crm\nnext: herald tenants erase b", Contact: "a\nb"}),
		to(api.ListDeliveries, api.DeliveryList{}), to(api.ListDeadLetters, listOf[api.DeadLetter]()))
	out := f.ends(t, exit.Done, "endpoints show acme/crm", `crm\nnext: herald`, `its owner says: contact: a\nb`)
	if strings.Contains(out, "\nnext: herald tenants erase") {
		t.Errorf("forges a line:\n%s", out)
	}
}

// stack is the stack that the fake answers for.
func (f *fake) stack() stack.Stack {
	return stack.Stack{Name: "herald-test", Lambda: f, Functions: map[string]string{"inspect": "inspect"}}
}

// page is the text of a page of the console, without the answer in JSON.
func (f *fake) page(t *testing.T, path string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shown, err := console.New(console.Config{Stack: f.stack(), LogCosts: true, Name: "herald-test", Now: clock}, l)
	if err != nil {
		t.Fatal(err)
	}
	in, err := url.Parse(shown.URL())
	if err != nil {
		t.Fatal(err)
	}
	let := ask(t, shown, in.String(), nil)
	resp := ask(t, shown, "http://"+in.Host+strings.TrimSuffix(in.Path, "/")+path, let.Result().Cookies())
	root, err := html.Parse(resp.Body)
	if err != nil || resp.Code != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.Code, err)
	}
	var text strings.Builder
	for n := range root.Descendants() {
		raw := slices.ContainsFunc(slices.Collect(n.Ancestors()), func(a *html.Node) bool { return a.Data == "details" })
		if n.Type == html.TextNode && !raw {
			fmt.Fprintln(&text, n.Data)
		}
	}
	return regexp.MustCompile(`\s*\n\s*`).ReplaceAllString(text.String(), "\n")
}

// ask asks a console for an address.
func ask(t *testing.T, s *console.Server, address string, cookies []*http.Cookie) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	for _, c := range cookies {
		req.AddCookie(c)
	}
	resp := httptest.NewRecorder()
	s.Handler().ServeHTTP(resp, req)
	return resp
}
