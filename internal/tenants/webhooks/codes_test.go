package webhooks

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// asked is a request that meets a situation. Its endpoint is live, or deleted where the route restores it.
type asked struct {
	w       *rig
	key, id string
	method  string
	query   string
	body    string
	header  http.Header
}

func (a *asked) do(method, path, body string) { a.w.do(a.key, method, path, body) }

// change edits the stored endpoint, as another request does.
func (a *asked) change(change func(e *endpoint.Endpoint)) {
	e := a.w.aws.Endpoints[a.id]
	change(&e)
	e.Revision += "x"
	a.w.aws.Endpoints[a.id] = e
}

// situations are all that can keep a request from its answer, each tried on every route.
var situations = map[string]func(a *asked){
	"nothing":         func(*asked) {},
	"no key":          func(a *asked) { a.key = "" },
	"no scope":        func(a *asked) { a.key = a.w.issue("acme", "other") },
	"a spent key":     func(a *asked) { a.w.handler.Budget = 1; a.do("GET", "/v1/event-types", "") },
	"a parameter":     func(a *asked) { a.query = "?other=1" },
	"a cursor":        func(a *asked) { a.query = "?cursor=abc" },
	"no JSON":         func(a *asked) { a.body = "{" },
	"another field":   func(a *asked) { a.body = `{"other":1}` },
	"a wrong value":   func(a *asked) { a.body = `{"url":"x","previous_secret_hours":99,"type":"x"}` },
	"a wrong URL":     func(a *asked) { a.body = `{"url":"x"}` },
	"wrong hours":     func(a *asked) { a.body = `{"previous_secret_hours":99}` },
	"a wrong type":    func(a *asked) { a.body = `{"type":"user.made"}` },
	"a large body":    func(a *asked) { a.body = strings.Repeat(" ", maxBody+1) },
	"a form":          func(a *asked) { a.body, a.header = "a=b", http.Header{"Content-Type": {"text/plain"}} },
	"another id":      func(a *asked) { a.id = endpoint.NewID(start.Add(-time.Hour)) },
	"a deleted one":   func(a *asked) { a.do("DELETE", "/v1/webhooks/"+a.id, "") },
	"a restored one":  func(a *asked) { a.do("POST", "/v1/webhooks/"+a.id+"/restore", "") },
	"a disabled one":  func(a *asked) { a.do("PATCH", "/v1/webhooks/"+a.id, `{"status":"disabled"}`) },
	"a paused one":    func(a *asked) { a.change(func(e *endpoint.Endpoint) { e.Marks.PausedAt = start }) },
	"an open circuit": func(a *asked) { a.w.aws.Circuits[a.id] = circuit.Item{State: circuit.Open, Version: 1} },
	"its tests": func(a *asked) {
		for range fiveTests {
			a.do("POST", "/v1/webhooks/"+a.id+"/test", "")
		}
	},
	"the most endpoints": func(a *asked) {
		for n := range endpoint.MaxLive {
			e := a.w.aws.Endpoints[a.id]
			e.ID, e.Status, e.DeletedAt = endpoint.NewID(start), endpoint.Active, time.Time{}
			e.URL = fmt.Sprint("https://example.com/other/", n)
			a.w.aws.Endpoints[e.ID] = e
		}
	},
	"a full host": func(a *asked) {
		a.w.create(a.key)
		a.do("POST", "/v1/webhooks", withURL("https://full.example/"))
		a.w.handler.Bounds.AtSite = 1
		if a.method == "PATCH" {
			a.body = withURL("https://also.full.example/")
		}
	},
	"its URL in use": func(a *asked) {
		other := a.w.create(a.key)
		e := a.w.aws.Endpoints[other.ID]
		e.URL = "https://example.com/in-use"
		a.w.aws.Endpoints[other.ID] = e
		if mine := a.w.aws.Endpoints[a.id]; !mine.Live() {
			a.change(func(mine *endpoint.Endpoint) { mine.URL = e.URL })
		}
		if a.body != "" && strings.Contains(a.body, "url") {
			a.body = strings.Replace(valid, "/hooks", "/in-use", 1)
		}
	},
	"another change": func(a *asked) {
		a.w.everyRace = func() { a.change(func(*endpoint.Endpoint) {}) }
		if a.method == "PUT" {
			a.body = strings.Replace(valid, "user.created", "*", 1)
		}
	},
}

// The description names, for each route, the codes that it answers and no others. Three are named everywhere: faults
// of AWS and of this code, and a request that API Gateway has not understood.
func TestHandler_answersTheCodesThatTheDescriptionNamesForEachRoute(t *testing.T) {
	described, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range routes {
		route := r.method + " " + r.path
		answered := map[string]bool{
			string(problem.CodeMalformedRequest): true, string(problem.CodeInternal): true,
			string(problem.CodeUnavailable): true,
		}
		for _, situation := range situations {
			if code := ask(t, r, situation); code != "" {
				answered[code] = true
			}
		}
		if diff := cmp.Diff(described.Codes(route), slices.Sorted(maps.Keys(answered))); diff != "" {
			t.Errorf("%s (-described +answered):\n%s", route, diff)
		}
	}
}

// ask makes a request of a route in a situation, and returns the code of its refusal.
func ask(t *testing.T, r route, situation func(*asked)) string {
	t.Helper()
	w, key := newTenant(t)
	w.handler.Asymmetric = true
	a := &asked{w: w, key: key, id: w.create(key).ID, method: r.method, header: http.Header{}}
	if r.body == jsonBody {
		a.body = w.fresh()
	}
	if strings.HasSuffix(r.path, "/restore") {
		a.do("DELETE", "/v1/webhooks/"+a.id, "")
	}
	situation(a)
	if a.body != "" && a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "application/json")
	}
	if a.key != "" && !r.open {
		a.header.Set("Authorization", "Bearer "+a.key)
	}
	got := w.call(r.method, strings.Replace(r.path, "{id}", a.id, 1)+a.query, a.header, []byte(a.body))
	var refused fault
	if got.status >= 400 {
		got.decode(t, &refused)
	}
	return refused.Code
}
