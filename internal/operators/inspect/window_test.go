package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// Each of acme's deliveries was published an hour after the one before, and died two days later.
func TestHandler_listsByTheTimeOfPublishing(t *testing.T) {
	for _, row := range []struct {
		action, fields string
		want           []string
	}{
		{"deliveries", `"endpoint_id":"webhook_1"`, []string{"msg_3", "msg_2", "msg_1", "msg_0"}},
		{"deliveries", `"endpoint_id":"webhook_1","published_since":"2026-05-01T14:00:00Z"`, []string{"msg_3", "msg_2"}},
		{"deliveries", `"endpoint_id":"webhook_1","published_since":"2026-05-01T13:00:00Z",` +
			`"published_until":"2026-05-01T16:00:00+02:00"`, []string{"msg_1"}},
		{"dead_letters", `"tenant_id":"acme","published_since":"2026-05-01T14:00:00Z"`, []string{"msg_3", "msg_2"}},
		{"dead_letters", `"status":"dead","published_until":"2026-05-01T13:00:00Z"`, []string{"msg_0"}},
		{"dead_letters", `"status":"dead","event_id":"evt_2"`, []string{"msg_2"}},
		{"dead_letters", `"tenant_id":"acme","since":"2026-05-03T15:00:00Z","published_until":"2026-05-01T15:00:00Z"`, nil},
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(endpoint.Endpoint{ID: "webhook_1", TenantID: "acme"})
			for n := range 4 {
				published := at.Add(time.Duration(n) * time.Hour)
				of := delivery.Ref{
					DeliveryID: fmt.Sprint("msg_", n), TenantID: "acme", EndpointID: "webhook_1",
					EventID: fmt.Sprint("evt_", n), CreatedAt: published,
				}
				a.putDeliveries(delivery.Record{Ref: of, State: delivery.Dead})
				a.putLetters(deadletter.Record{Ref: of, Status: deadletter.Dead, DiedAt: published.Add(48 * time.Hour)})
			}
			var got []string
			for _, d := range read[api.List[api.Delivery]](a, row.action, row.fields).Data {
				got = append(got, d.DeliveryID)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", row.action, row.fields, diff)
			}
		})
	}
}

func TestHandler_listsRefuseTimesThatMeanNothing(t *testing.T) {
	const day, before = `"published_since":"2026-05-02T00:00:00Z"`, `"published_until":"2026-05-01T00:00:00Z"`
	for request, want := range map[[2]string]string{
		{"deliveries", `"endpoint_id":"webhook_1",` + day + "," + before}:                 "published_until",
		{"deliveries", `"tenant_id":"acme","event_id":"evt_1",` + day}:                    "published_since",
		{"deliveries", `"tenant_id":"acme","event_id":"evt_1",` + before}:                 "published_until",
		{"deliveries", `"tenant_id":"acme","event_id":"evt_1","trace_id":"` + id32 + `"`}: "trace_id",
		{"deliveries", `"tenant_id":"acme","trace_id":"4bf9"`}:                            "trace_id",
		{"deliveries", `"trace_id":"` + id32 + `"`}:                                       "tenant_id",
		{"dead_letters", `"status":"dead",` + day + "," + before}:                         "published_until",
		{"dead_letters", `"event_id":"evt_1"`}:                                            "endpoint_id",
		{"rejected_events", day}:                                                          "published_since",
	} {
		inAccount(t, func(a *account) {
			_, field, _ := strings.Cut(testkit.Refusal(t, a.ask(request[0], request[1])), " ")
			if field != want {
				t.Errorf("%s: %q is at fault, want %q", request, field, want)
			}
		})
	}
}

// A page searches a bounded number of letters, and its cursor leads to the rest.
func TestHandler_deadLetters_searchesABoundedNumberForAnEvent(t *testing.T) {
	inAccount(t, func(a *account) {
		for n := range api.SearchedLetters + 1 {
			of := delivery.Ref{DeliveryID: fmt.Sprint("msg_", n), TenantID: "acme", EventID: "evt_" + fmt.Sprint(n)}
			a.putLetters(deadletter.Record{Ref: of, Status: deadletter.Dead, DiedAt: at.Add(time.Duration(n) * time.Second)})
		}
		const first = `"tenant_id":"acme","event_id":"evt_0"`
		page := read[api.List[api.DeadLetter]](a, "dead_letters", first)
		if len(page.Data) > 0 || page.NextCursor == nil {
			t.Fatalf("%d letters, next %v", len(page.Data), page.NextCursor)
		}
		page = read[api.List[api.DeadLetter]](a, "dead_letters", first+`,"cursor":"`+*page.NextCursor+`"`)
		if len(page.Data) != 1 || page.NextCursor != nil {
			t.Errorf("%d letters behind it, next %v", len(page.Data), page.NextCursor)
		}
		if causes := read[api.Causes](a, "causes", first); len(causes.Data) > 0 || !causes.More {
			t.Errorf("the causes of an earlier one: %+v", causes)
		}
	})
}

const id32 = "4bf92f3577b34da6a3ce929d0e0e4736"

// A trace is found among what is not acknowledged, by any text that names it.
func TestHandler_deliveriesOfATrace_areThoseThatAreNotAcknowledged(t *testing.T) {
	for _, named := range []string{
		id32, "00-" + id32 + "-00f067aa0ba902b7-01", "1-4bf92f35-77b34da6a3ce929d0e0e4736",
		"Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Sampled=1",
	} {
		inAccount(t, func(a *account) {
			a.putEndpoints(endpoint.Endpoint{ID: "webhook_1", TenantID: "acme"})
			traced, acknowledged := made("webhook_1", delivery.Waiting, "1"), made("webhook_1", delivery.Acknowledged, "2")
			traced.TraceID, acknowledged.TraceID = id32, id32
			a.putDeliveries(traced, acknowledged, made("webhook_1", delivery.Waiting, "3"))
			got := read[api.DeliveryList](a, "deliveries", `"tenant_id":"acme","trace_id":"`+named+`"`)
			if len(got.Data) != 1 || got.Data[0].DeliveryID != traced.DeliveryID || got.Note != noteTraced {
				t.Errorf("%s: %q, %+v", named, got.Note, got.Data)
			}
			none := read[api.DeliveryList](a, "deliveries", `"tenant_id":"other","trace_id":"`+named+`"`)
			if len(none.Data) > 0 || none.Note != noteNoTrace+noteTraced {
				t.Errorf("of another tenant: %q, %+v", none.Note, none.Data)
			}
		})
	}
}
