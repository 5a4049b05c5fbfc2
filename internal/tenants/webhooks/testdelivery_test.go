package webhooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// sent are the messages on DeliveryQueue, as deliver reads them.
func (w *rig) sent() (sent []delivery.Message) {
	w.t.Helper()
	w.aws.DeliveryQueue.Each(func(received events.SQSMessage, _ time.Duration, _ int) {
		m, err := queue.Decode(received)
		if err != nil {
			w.t.Error(err)
		}
		sent = append(sent, m)
	})
	return sent
}

func (w *rig) test(key, id, body string) answer {
	w.t.Helper()
	return w.do(key, "POST", "/v1/webhooks/"+id+"/test", body)
}

// Whatever is asked for, one delivery is sent that says by its id that it is a test, and nothing else is stored. The
// endpoint selects user.created alone.
//
// Threat of a tenant: learns by tests what a host answers. Held by: the answer comes before the test, with its id
// alone.
func TestHandler_test_sendsOneDeliveryThatSaysItIsATest(t *testing.T) {
	bodies := map[string]string{
		"": "", "{}": "", "null": "", `{"type":"herald.test"}`: "",
	}
	for _, c := range catalogue.Types() {
		bodies[`{"type":"`+c.Name+`"}`] = `{"type":"` + c.Name + `","data":` + c.Example + `}`
	}
	for body, want := range bodies {
		if want == "" {
			want = `{"type":"herald.test","data":{}}`
		}
		w, key := newTenant(t)
		e := w.create(key)
		w.audited.Reset()
		before := w.aws.Endpoints[e.ID]
		a := w.test(key, e.ID, body)
		sent := w.sent()
		if a.status != 202 || len(sent) != 1 {
			t.Errorf("%s: answered %s, sent %v", body, a.brief(), sent)
			continue
		}
		m := sent[0]
		if got := string(a.body); !m.IsTest() || got != `{"delivery_id":"`+m.DeliveryID+`"}` {
			t.Errorf("%s: answered %s, sent %+v", body, got, m.Ref)
		}
		if string(m.Body) != want || m.TenantID != "acme" || m.EndpointID != e.ID || m.Attempts+m.Replay > 0 {
			t.Errorf("%s: sent %+v %s, want %s", body, m.Ref, m.Body, want)
		}
		if diff := cmp.Diff(before, w.aws.Endpoints[e.ID]); diff != "" || len(w.aws.Circuits)+len(w.aws.States) > 0 {
			t.Errorf("%s: stored (-before +after)\n%s%v %v", body, diff, w.aws.Circuits, w.aws.States)
		}
		id, _ := apikey.ParseID(key)
		line := map[string]any{
			"action": "test", "request_id": "req-1", "key_id": id, "tenant_id": "acme", "endpoint_id": e.ID,
			"delivery_id": m.DeliveryID, "function": "",
		}
		if diff := cmp.Diff([]map[string]any{line}, w.auditLines()); diff != "" {
			t.Errorf("%s: audited (-want +got)\n%s", body, diff)
		}
		if !strings.Contains(w.log.String(), `"delivery_id":"`+m.DeliveryID+`"`) {
			t.Errorf("%s: not found in the log: %s", body, w.log)
		}
	}
}

func TestHandler_test_hasAnotherIdEachTime(t *testing.T) {
	w, key := newTenant(t)
	e := w.create(key)
	for range fiveTests {
		w.test(key, e.ID, `{"type":"user.created"}`)
	}
	var ids []string
	for _, m := range w.sent() {
		ids = append(ids, m.DeliveryID)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != fiveTests {
		t.Errorf("sent %v", ids)
	}
}

// A test is refused where nothing would be sent, and for a body that asks for none. A refused request sends nothing and
// counts for nothing.
//
// Threat of a tenant: goes around a pause, or moves a circuit, by tests. Held by: a stopped endpoint is refused; a
// test has one attempt and counts for no circuit.
func TestHandler_test_isRefusedWhereNothingWouldBeSent(t *testing.T) {
	mark := func(w *rig, id string, change func(e *endpoint.Endpoint)) {
		e := w.aws.Endpoints[id]
		change(&e)
		w.aws.Endpoints[id] = e
	}
	in := func(s circuit.State) func(w *rig, _, id string) {
		return func(w *rig, _, id string) { w.aws.Circuits[id] = circuit.Item{TenantID: "acme", State: s, Version: 1} }
	}
	pauseTenant := func(w *rig, _, _ string) { w.aws.Stops["acme"] = endpoint.Marks{PausedAt: start} }
	nothing := func(*rig, string, string) {}
	for name, row := range map[string]struct {
		given func(w *rig, key, id string)
		body  string
		want  string
	}{
		"a healthy one": {nothing, "", "202"},
		"a deleted one": {func(w *rig, key, id string) { w.do(key, "DELETE", "/v1/webhooks/"+id, "") }, "",
			"409 endpoint_deleted"},
		"a disabled one": {func(w *rig, key, id string) {
			w.do(key, "PATCH", "/v1/webhooks/"+id, `{"status":"disabled"}`)
		}, "", "409 endpoint_disabled"},
		"a paused one": {func(w *rig, _, id string) {
			mark(w, id, func(e *endpoint.Endpoint) { e.Marks.PausedAt = start })
		}, "", "409 endpoint_paused"},
		"one that was resumed": {func(w *rig, _, id string) {
			mark(w, id, func(e *endpoint.Endpoint) {
				e.Marks.ResumedAt = start
			})
		}, "", "202"},
		"one of a paused tenant": {pauseTenant, "", "409 endpoint_paused"},
		"an open one":            {in(circuit.Open), "", "409 circuit_open"},
		"a failing one":          {in(circuit.Failing), "", "202"},
		"a recovering one":       {in(circuit.Recovering), "", "202"},
		"one that waits for its rate": {func(w *rig, _, id string) {
			mark(w, id, func(e *endpoint.Endpoint) { e.RateLimit = 1 })
			w.aws.Circuits[id] = circuit.Item{TenantID: "acme", Version: 1, Pace: circuit.Pace{Quota: 1}}
		}, "", "202"},
		"an unknown type":          {nothing, `{"type":"user.made"}`, `422 validation_failed "/type"`},
		"a pattern":                {nothing, `{"type":"*"}`, `422 validation_failed "/type"`},
		"an empty type":            {nothing, `{"type":""}`, `422 validation_failed "/type"`},
		"a type that is no text":   {nothing, `{"type":null}`, `400 invalid_body "/type"`},
		"a member that is none":    {nothing, `{"data":{}}`, `400 invalid_body "/data"`},
		"a body that is no object": {nothing, `["user.created"]`, `400 invalid_body ""`},
		"a body beyond its bound":  {nothing, `{"type":"` + strings.Repeat("x", maxBody) + `"}`, "413 body_too_large"},
	} {
		w, key := newTenant(t)
		e := w.create(key)
		row.given(w, key, e.ID)
		want := 0
		if row.want == "202" {
			want = 1
		}
		w.expect(name, row.want, w.test(key, e.ID, row.body))
		if got := len(w.sent()); got != want || w.counted != want {
			t.Errorf("%s: sent %d, counted %d", name, got, w.counted)
		}
	}
}

// restart replaces the process by another one, which remembers nothing.
func (w *rig) restart() {
	was := w.handler
	w.handler = &Handler{
		Endpoints: was.Endpoints, Keys: was.Keys, Secrets: was.Secrets, Published: was.Published, Tests: was.Tests,
		URLs: was.URLs, Audit: was.Audit, Log: was.Log, Now: was.Now, Budget: was.Budget, Bounds: was.Bounds,
		Companions: was.Companions,
	}
}

// Five tests are sent in a minute to a domain with one endpoint, by whatever keys and processes they come.
//
// Threat of a tenant: floods a host with tests. Held by: five a minute for each endpoint at a domain, 100 at most,
// counted where no new id forgets them.
func TestHandler_test_takesFiveAMinuteOfAnEndpoint(t *testing.T) {
	w, key := newTenant(t)
	w.now = start.Add(15 * time.Second)
	e := w.create(key)
	keys := []string{key, w.issue("acme", apikey.Write)}
	for n := range fiveTests {
		w.expect(fmt.Sprint("test ", n), "202", w.test(keys[n%2], e.ID, ""))
		w.restart()
	}
	for _, k := range keys {
		a := w.test(k, e.ID, `{"type":"user.created"}`)
		if w.expect("one more", "429 too_many_tests", a); a.header.Get("Retry-After") != "45" {
			t.Errorf("one more: after %s", a.header.Get("Retry-After"))
		}
	}
	var elsewhere management.Endpoint
	w.do(key, "POST", "/v1/webhooks", withURL("https://example.org/")).decode(t, &elsewhere)
	w.expect("at another domain", "202", w.test(key, elsewhere.ID, ""))
	other := w.create(key)
	for n := range fiveTests {
		w.expect(fmt.Sprint("with two endpoints: ", n), "202", w.test(key, other.ID, ""))
	}
	w.expect("beyond those of two", "429 too_many_tests", w.test(key, e.ID, ""))
	w.now = start.Add(time.Minute)
	w.expect("a minute later", "202", w.test(key, e.ID, ""))
	if got := len(w.sent()); got != 2*fiveTests+2 {
		t.Errorf("sent %d", got)
	}
}

// An endpoint's place in the minute is its domain's: a new id, another name or URL there, or a restart gains no test.
func TestHandler_test_takesFiveAMinuteThroughEachWayToShedThem(t *testing.T) {
	const other = "https://shop2.example.com/other"
	for name, shed := range map[string]func(w *rig, key, id string) string{
		"deleted and created": func(w *rig, key, id string) string {
			w.do(key, "DELETE", "/v1/webhooks/"+id, "")
			return w.create(key).ID
		},
		"deleted and restored": func(w *rig, key, id string) string {
			w.do(key, "DELETE", "/v1/webhooks/"+id, "")
			w.do(key, "POST", "/v1/webhooks/"+id+"/restore", "")
			return id
		},
		"moved and back": func(w *rig, key, id string) string {
			w.do(key, "PATCH", "/v1/webhooks/"+id, `{"url":"https://example.org/"}`)
			w.do(key, "PATCH", "/v1/webhooks/"+id, `{"url":"`+other+`"}`)
			return id
		},
	} {
		w, key := newTenant(t)
		id := w.create(key).ID
		for range 3 {
			for range fiveTests {
				w.do(key, "POST", "/v1/webhooks/"+id+"/test", "")
			}
			id = shed(w, key, id)
		}
		if sent := len(w.sent()); sent != fiveTests {
			t.Errorf("%s: %d tests in a minute", name, sent)
		}
	}
}

// Whatever an owner does to its endpoints at a domain, a minute takes five tests there for each of the most that it has
// had at once.
func TestHandler_test_gainsNothingByDeletingCreatingAndMoving(t *testing.T) {
	const most, each = 2, 2 // endpoints, and tests a minute of each
	rapid.Check(t, func(r *rapid.T) {
		w, key := newTenant(t)
		w.handler.Bounds.AtSite, w.handler.Tests.PerMinute = most, each
		var ids []string
		live := 0
		for range 15 {
			url := withURL(fmt.Sprintf("https://shop%d.saas.example/%d", rapid.IntRange(0, 9).Draw(r, "host"), w.made))
			w.made++
			act := rapid.SampledFrom([]string{"POST", "DELETE", "restore", "PATCH", "test", "test", "test"}).Draw(r, "act")
			if act == "POST" || len(ids) == 0 {
				var made management.Endpoint
				if a := w.do(key, "POST", "/v1/webhooks", url); a.status == 201 {
					a.decode(t, &made)
					ids = append(ids, made.ID)
				}
			} else {
				path := "/v1/webhooks/" + rapid.SampledFrom(ids).Draw(r, "id")
				switch act {
				case "DELETE":
					w.do(key, act, path, "")
				case "PATCH":
					w.do(key, act, path, url)
				case "test":
					for range each {
						w.do(key, "POST", path+"/test", "")
					}
				default:
					w.do(key, "POST", path+"/"+act, "")
				}
			}
			live = max(live, w.live("acme"))
		}
		if sent := len(w.sent()); live > most || sent > each*live {
			r.Errorf("%d tests at a domain with %d endpoints", sent, live)
		}
	})
}

// Nothing is sent that is not counted and audited, and every fault is told.
func TestHandler_test_sendsNothingThatIsNotCountedAndAudited(t *testing.T) {
	for _, call := range []string{
		"Read Endpoints", "Read EndpointHealth", "Write Deliveries", "PutLogEvents", "Send DeliveryQueue",
	} {
		w, key := newTenant(t)
		e := w.create(key)
		w.aws.Judge = func(c *model.Call) model.Verdict {
			if c.Name == call {
				return model.Refused
			}
			return model.Done
		}
		w.expect(call, "503 unavailable", w.test(key, e.ID, ""))
		if sent := w.sent(); len(sent) > 0 {
			t.Errorf("%s: sent %v", call, sent)
		}
	}
}
