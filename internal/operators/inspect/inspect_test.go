package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestHandler_delivery_showsTheWholeRecord(t *testing.T) {
	r := delivery.Record{
		Ref: before("msg_1"), EventType: "user.created", State: delivery.Retrying, Attempts: 2, LastStatus: 503,
		Reason: delivery.ReasonHTTP5xx, DurationMS: 12, NextAttemptAt: at.Add(time.Minute), UpdatedAt: at.Add(time.Second),
	}
	want := api.Delivery{
		DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", EventID: "evt_1", EventType: "user.created",
		State: "retrying", Attempts: 2, Replay: 1, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 12,
		NextAttemptAt: at.Add(time.Minute), OccurredAt: occurred, CreatedAt: at, UpdatedAt: at.Add(time.Second),
	}
	inAccount(t, func(a *account) {
		a.putDeliveries(r)
		if diff := cmp.Diff(want, read[api.Delivery](a, "delivery", `"delivery_id":"msg_1"`)); diff != "" {
			t.Errorf("delivery (-want +got):\n%s", diff)
		}
		r.DeliveryID, want.DeliveryID, want.Test = "test_1", "test_1", true
		a.putDeliveries(r)
		if diff := cmp.Diff(want, read[api.Delivery](a, "delivery", `"delivery_id":"test_1"`)); diff != "" {
			t.Errorf("a test (-want +got):\n%s", diff)
		}
	})
}

func TestHandler_refusesWhatItCannotShow(t *testing.T) {
	for name, row := range map[string]struct{ action, fields, want string }{
		"a delivery without an id": {"delivery", ``, "invalid_field delivery_id"},
		"an unknown delivery":      {"delivery", `"delivery_id":"msg_9"`, "not_found delivery_id"},
		"another tenant's delivery": {
			"delivery", `"delivery_id":"msg_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"deliveries of no endpoint": {"deliveries", ``, "invalid_field endpoint_id"},
		"deliveries of a list of endpoints": {
			"deliveries", `"endpoint_id":"` + strings.Repeat("webhook_1 ", 26) + `"`, "invalid_field endpoint_id",
		},
		"deliveries of what is no event": {"deliveries", `"event":{"type":"user.deleted"}`, "invalid_field event"},
		"deliveries of an event without an id": {
			"deliveries", `"event":{"tenant_id":"acme","type":"user.deleted","data":{}}`, "invalid_field event_id",
		},
		"deliveries of an event of two ids": {
			"deliveries", `"event_id":"evt_2","event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`,
			"invalid_field event_id",
		},
		"deliveries of another tenant's event": {
			"deliveries", `"tenant_id":"other","event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`,
			"tenant_mismatch tenant_id",
		},
		"another tenant's deliveries": {
			"deliveries", `"endpoint_id":"webhook_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"a made-up cursor": {
			"deliveries", `"endpoint_id":"webhook_1","cursor":"AAAA"`, "invalid_cursor cursor",
		},
		"deliveries of an event of no tenant": {"deliveries", `"event_id":"evt_1"`, "invalid_field tenant_id"},
		"deliveries of an event and an endpoint": {
			"deliveries", `"event_id":"evt_1","tenant_id":"acme","endpoint_id":"webhook_1"`, "invalid_field endpoint_id",
		},
		"a page of an event": {
			"deliveries", `"event_id":"evt_1","tenant_id":"acme","limit":5`, "invalid_field limit",
		},
		"a next page of an event": {
			"deliveries", `"event_id":"evt_1","tenant_id":"acme","cursor":"A"`, "invalid_cursor cursor",
		},
		"endpoints of no state": {"endpoints", `"state":"down"`, "invalid_field state"},
		"another tenant's endpoint": {
			"endpoint", `"endpoint_id":"webhook_1","tenant_id":"other"`, "not_found endpoint_id",
		},
		"no endpoint": {"endpoint", ``, "invalid_field endpoint_id"},
		"a healthy endpoint by its id alone": {
			"endpoint", `"endpoint_id":"webhook_1"`, "invalid_field tenant_id",
		},
		"another tenant's endpoint in trouble": {
			"endpoint", `"endpoint_id":"webhook_down","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"an endpoint that was purged": {"endpoint", `"endpoint_id":"webhook_purged"`, "not_found endpoint_id"},
		"an endpoint of no tenant by its name": {
			"endpoint", `"endpoint_id":"orders"`, "invalid_field tenant_id",
		},
		"too many deliveries":       {"deliveries", `"endpoint_id":"webhook_1","limit":101`, "invalid_field limit"},
		"dead letters of nothing":   {"dead_letters", ``, "invalid_field endpoint_id"},
		"dead letters of no status": {"dead_letters", `"status":"alive"`, "invalid_field status"},
		"deliveries of an unknown host": {
			"deliveries", `"endpoint_id":"a.example","tenant_id":"acme"`, "not_found endpoint_id",
		},
		"dead letters of two endpoints of one description": {
			"dead_letters", `"endpoint_id":"orders","tenant_id":"acme"`, "invalid_field endpoint_id",
		},
		"dead letters of a span that ends before it begins": {
			"dead_letters", `"status":"dead","since":"2026-05-01T12:00:00Z","until":"2026-05-01T12:00:00Z"`,
			"invalid_field until",
		},
		"another tenant's dead letters": {
			"dead_letters", `"endpoint_id":"webhook_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"a dead letter without an id": {"dead_letter", ``, "invalid_field delivery_id"},
		"an unknown dead letter":      {"dead_letter", `"delivery_id":"msg_9"`, "not_found delivery_id"},
		"another tenant's dead letter": {
			"dead_letter", `"delivery_id":"msg_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"a dead letter that was changed":   {"dead_letter", `"delivery_id":"msg_1"`, "unopenable delivery_id"},
		"rejected events with a page of 0": {"rejected_events", `"limit":0`, "invalid_field limit"},
	} {
		inAccount(t, func(a *account) {
			a.putDeliveries(delivery.Record{Ref: ref("msg_1")})
			a.putEndpoints(
				endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", Status: endpoint.Active, Description: "orders"},
				endpoint.Endpoint{ID: "webhook_down", TenantID: "acme", Status: endpoint.Active, Description: "orders"},
			)
			a.putCircuits(down, circuit.Item{TenantID: "acme", EndpointID: "webhook_purged", State: circuit.Open})
			a.putLetters(deadletter.Record{Ref: ref("msg_1"), Sealed: deadletter.Sealed{Body: []byte("changed")}})
			if got := testkit.Refusal(t, a.ask(row.action, row.fields)); got != row.want {
				t.Errorf("%s is refused as %q, want %q", name, got, row.want)
			}
		})
	}
}

// Whichever AWS call of an action fails, its detail is in the log and not in an answer. Two calls may fail without
// failing the request, since they only add to the answer: the names of dead letters' endpoints, and the return of
// rejected events.
func TestHandler_keepsTheDetailOfErrorsInItsLog(t *testing.T) {
	const one, event = `"endpoint_id":"webhook_1","tenant_id":"acme"`, `"tenant_id":"acme","event_id":"evt_1"`
	const published = `"event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`
	actions := map[string]bool{}
	for _, row := range []struct{ action, fields, beside string }{
		{"delivery", `"delivery_id":"msg_1"`, ""},
		{"deliveries", `"endpoint_id":"webhook_1"`, ""},
		{"deliveries", event, ""},
		{"deliveries", published, ""},
		{"dead_letters", `"status":"dead"`, "(webhook_1)"},
		{"dead_letters", `"tenant_id":"acme","endpoint_id":"orders"`, "(webhook_1)"},
		{"causes", ``, ""},
		{"dead_letter", `"delivery_id":"msg_1"`, "(webhook_1)"},
		{"endpoints", ``, ""},
		{"endpoints", `"tenant_id":"acme"`, ""},
		{"endpoint", one, ""},
		{"endpoint", one + `,"show_path":true`, ""},
		{"tenant", `"tenant_id":"acme"`, ""},
		{"summary", ``, ""},
		{"summary", `"causes":true`, ""},
		{"jobs", ``, ""},
		{"job", `"job_id":"job_1"`, ""},
		{"job_failures", `"job_id":"job_1"`, ""},
		{"job_outcome", `"job_id":"job_1"`, ""},
		{"rejected_events", ``, "ChangeVisibility"},
		{"subscribers", `"event_type":"user.created"`, ""},
	} {
		actions[row.action] = true
		for n := 1; ; n++ {
			reached := false
			inAccount(t, func(a *account) {
				a.putEndpoints(endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", Description: "orders"})
				a.putCircuits(circuit.Item{
					TenantID: "acme", EndpointID: "webhook_1", Version: 1, State: circuit.Open, HeldUntil: at,
				})
				r := deadletter.Record{Ref: ref("msg_1"), Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at}
				a.putLetters(sealed(t, r, deadletter.Death{Body: []byte("{}"), Entry: deadletter.Entry{Reason: r.Reason}}))
				a.putDeliveries(delivery.Record{Ref: ref("msg_1"), State: delivery.Dead})
				a.putJob(job.Job{ID: "job_1", Act: job.Replay, State: job.Done, StartedAt: at},
					job.Page{Number: 1, Done: []string{"msg_1"}})
				a.wait("webhook_1", 1, 1, at)
				a.reject(rejected.Event{MessageID: "1", EventID: "evt_1", Body: "{}"})
				refused := a.refuseCall(n)
				answer := a.ask(row.action, row.fields)
				if row.action == "subscribers" {
					answer = a.scan(row.fields)
				}
				if reached = a.made >= n; !reached {
					return
				}
				aside := row.beside != "" && strings.Contains(refused.String(), row.beside)
				logged := strings.Contains(a.log.String(), `"level":"ERROR"`)
				if aside { // a change of visibility is made again, and done
					logged = strings.Contains(a.log.String(), `"level":"WARN"`) || strings.HasPrefix(refused.Name, "ChangeVisibility")
				}
				if failed := answer == testkit.Internal; failed == aside || !logged {
					t.Errorf("%s %s, %s refused: %s answers, the log has %s", row.action, row.fields, refused, answer, &a.log)
				}
			})
			if !reached {
				break
			}
		}
	}
	for action := range (&Handler{}).Function().Actions {
		if !actions[action] {
			t.Errorf("%s was not tried", action)
		}
	}
}

func TestHandler_deliveries_goesOnWithItsCursor(t *testing.T) {
	inAccount(t, func(a *account) {
		var want []api.Delivery
		for n := range 5 {
			r := delivery.Record{Ref: ref(fmt.Sprint("msg_", n)), State: delivery.Retrying}
			r.CreatedAt = at.Add(-time.Duration(n) * time.Minute) // the newest first
			a.putDeliveries(r)
			want = append(want, showDelivery(r))
		}
		acknowledged := delivery.Record{Ref: ref("msg_9"), State: delivery.Acknowledged}
		a.putDeliveries(acknowledged)
		const of = `"endpoint_id":"webhook_1","limit":2`
		var got []api.Delivery
		for cursor := ""; ; {
			page := read[api.List[api.Delivery]](a, "deliveries", of+cursor)
			got = append(got, page.Data...)
			if page.NextCursor == nil {
				break
			}
			cursor = `,"cursor":"` + *page.NextCursor + `"`
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
	})
}

func TestHandler_deadLetters_showsNothingSealed(t *testing.T) {
	inAccount(t, func(a *account) {
		a.putEndpoints(endpoint.Endpoint{
			ID: "webhook_1", TenantID: "acme", URL: "https://a.example/secret", Description: "orders",
		})
		a.putLetters(deadletter.Record{
			Ref: ref("msg_1"), EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, Attempts: 10,
			LastStatus: 504, ReplayCount: 2, DiedAt: at, Sealed: deadletter.Sealed{Body: []byte("sealed")},
		})
		const dead = `"endpoint_id":"webhook_1","status":"dead"`
		got := read[api.List[api.DeadLetter]](a, "dead_letters", dead)
		want := api.List[api.DeadLetter]{Data: []api.DeadLetter{{
			DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", Host: "a.example", Description: "orders",
			EventID: "evt_1", EventType: "user.created", Status: "dead", Reason: delivery.ReasonTimeout, Attempts: 10,
			LastStatus: 504, CreatedAt: at, DiedAt: at, ReplayCount: 2,
		}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dead letters (-want +got):\n%s", diff)
		}
		a.refuse("Read Endpoints")
		want.Data[0].Host, want.Data[0].Description = "", ""
		got = read[api.List[api.DeadLetter]](a, "dead_letters", dead)
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(a.log.String(), "could not be read") {
			t.Errorf("without endpoints (-want +got):\n%s\n%s", diff, &a.log)
		}
	})
}

func TestHandler_deadLetters_selects(t *testing.T) {
	letter := func(id, tenant, endpointID string, reason delivery.Reason, died time.Time) deadletter.Record {
		return deadletter.Record{
			Ref:    delivery.Ref{DeliveryID: id, TenantID: tenant, EndpointID: endpointID},
			Status: deadletter.Dead, Reason: reason, DiedAt: died,
		}
	}
	letters := []deadletter.Record{
		letter("1", "acme", "webhook_down", "timeout", at), letter("2", "acme", "webhook_back", "timeout", at.Add(time.Hour)),
		letter("3", "big", "webhook_9", "timeout", at), letter("4", "", "", "unreadable", at),
		letter("5", "acme", "webhook_back", "http_5xx", at.Add(-time.Minute)),
	}
	deleted := endpoint.Endpoint{ID: "webhook_old", TenantID: "acme", Description: "orders", Status: endpoint.Deleted}
	for fields, want := range map[string][]string{
		`"endpoint_id":"webhook_back","tenant_id":"acme"`: {"2", "5"}, // the latest death first
		`"status":"dead","reason":"unreadable"`:           {"4"},
		`"status":"replayed"`:                             nil,
		`"tenant_id":"acme"`:                              {"2", "1", "5"},
		`"tenant_id":"acme","since":"2026-05-01T12:00:00Z","until":"2026-05-01T15:00:00+02:00"`: {"1"},
		`"tenant_id":"acme","endpoint_id":"down.example"`:                                       {"1"},
		`"tenant_id":"acme","endpoint_id":"orders"`:                                             {"1"},
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(append([]endpoint.Endpoint{deleted}, rows...)...)
			a.putLetters(letters...)
			var got []string
			for _, l := range read[api.List[api.DeadLetter]](a, "dead_letters", fields).Data {
				got = append(got, l.DeliveryID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", fields, diff)
			}
		})
	}
}

func TestHandler_deadLetter_opensWhatIsSealed(t *testing.T) {
	r := deadletter.Record{
		Ref: before("msg_1"), EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at,
	}
	entry := deadletter.Entry{DiedAt: at, Reason: delivery.ReasonTimeout, Attempts: 10, Replay: 1, MessageID: "m1"}
	r = sealed(t, r, deadletter.Death{Body: []byte(`{"type":"user.created"}`), Entry: entry})
	inAccount(t, func(a *account) {
		a.putLetters(r)
		listed := read[api.List[api.DeadLetter]](a, "dead_letters", `"status":"dead"`)
		want := api.OpenedDeadLetter{
			DeadLetter: listed.Data[0], OccurredAt: occurred,
			Body: `{"type":"user.created"}`, History: []deadletter.Entry{entry},
			Headers: map[string]string{
				"content-type": "application/json", "wh-id": "msg_1", "wh-webhook-event": "user.created",
			},
		}
		got := read[api.OpenedDeadLetter](a, "dead_letter", `"delivery_id":"msg_1","tenant_id":"acme"`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("dead letter (-want +got):\n%s", diff)
		}
		if strings.Contains(a.log.String(), "user.created") {
			t.Errorf("the body is logged: %s", &a.log)
		}
	})
}

func TestHandler_deadLetter_hasNoHeadersWhenItWasUnreadable(t *testing.T) {
	got := headers(deadletter.Record{Ref: delivery.Ref{DeliveryID: "unreadable_1"}, Reason: delivery.ReasonUnreadable})
	if diff := cmp.Diff(map[string]string{}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestHandler_summary_countsDeadLettersAndMeasuresQueues(t *testing.T) {
	inAccount(t, func(a *account) {
		for n, status := range []deadletter.Status{deadletter.Dead, deadletter.Dead, deadletter.Dead, deadletter.Replayed} {
			a.putLetters(deadletter.Record{
				Ref: ref(fmt.Sprint("msg_", n)), Status: status, DiedAt: at.Add(time.Duration(n) * time.Minute),
			})
		}
		a.depths = map[string][3]string{"url/events": {"1", "2", "3"}, "url/retries": {"0", "40", "0"}}
		want := api.Summary{
			Endpoints: api.EndpointCounts{States: map[api.State]int{}, Slow: []api.SlowTenant{}},
			DeadLetters: map[deadletter.Status]api.LetterCount{
				"dead": {Count: 3, OldestDiedAt: at}, "replaying": {},
				"replayed": {Count: 1, OldestDiedAt: at.Add(3 * time.Minute)},
			},
			Queues: map[string]api.Depth{
				"EventsQueue": {Visible: 1, InFlight: 2, Delayed: 3}, "RetryQueue": {InFlight: 40}, eventsDeadLetterQueue: {},
			},
			FIPSModule: config.FIPSModule(),
		}
		if diff := cmp.Diff(want, read[api.Summary](a, "summary", "")); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
		a.depths["url/retries"] = [3]string{"1", "many", "0"}
		if got := a.ask("summary", ""); got != testkit.Internal {
			t.Errorf("a number that cannot be read is answered as %s", got)
		}
	})
}
