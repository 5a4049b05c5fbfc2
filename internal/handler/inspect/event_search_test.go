package inspect

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// made is the record of a delivery of acme's event evt_1 with this body.
func made(endpointID string, state delivery.State, body string) delivery.Record {
	return delivery.Record{State: state, Ref: delivery.Ref{
		DeliveryID: delivery.ID("acme", "evt_1", endpointID, delivery.ContentOf([]byte(body))), TenantID: "acme",
		EndpointID: endpointID, EventID: "evt_1",
	}}
}

func shownStates(list DeliveryList) (states []string) {
	for _, d := range list.Data {
		states = append(states, d.EndpointID+" "+string(d.State))
	}
	return states
}

func TestHandler_deliveriesOfEvent_findsThoseOfItsExactBody(t *testing.T) {
	const body = `{"type":"user.deleted","data":{ "b":1.0,"a":[] }}`
	unnamed := made("webhook_4", delivery.Acknowledged, body)
	unnamed.DeliveryID = delivery.ID("acme", "0b7c", "webhook_4", delivery.ContentOf([]byte(body)))
	w := &world{
		endpoints: []endpoint.Endpoint{
			{ID: "webhook_1", TenantID: "acme", Status: endpoint.Deleted}, {ID: "webhook_2", TenantID: "acme"},
			{ID: "webhook_3", TenantID: "acme"}, {ID: "webhook_4", TenantID: "acme"}, {ID: "webhook_5", TenantID: "other"},
		},
		deliveries: []delivery.Record{
			made("webhook_3", delivery.Acknowledged, body), made("webhook_1", delivery.Discarded, body),
			made("webhook_2", delivery.Dead, `{"type":"user.deleted","data":{}}`), unnamed, {Ref: ref("msg_1")},
		},
	}
	for name, row := range map[string]struct {
		fields string
		want   []string
	}{
		"by its own id": {
			`"event":{"data":{ "b":1.0,"a":[] },"id":"evt_1","tenant_id":"acme","type":"user.deleted"}`,
			[]string{"webhook_1 discarded", "webhook_3 acknowledged"},
		},
		"with ids that agree": {
			`"event_id":"evt_1","tenant_id":"acme",` +
				`"event":{"data":{ "b":1.0,"a":[] },"id":"evt_1","tenant_id":"acme","type":"user.deleted"}`,
			[]string{"webhook_1 discarded", "webhook_3 acknowledged"},
		},
		"by the id of its SQS message": {
			`"event_id":"0b7c","event":{"tenant_id":"acme","type":"user.deleted","data":{ "b":1.0,"a":[] }}`,
			[]string{"webhook_4 acknowledged"},
		},
		"another content": {
			`"event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`, []string{"webhook_2 dead"},
		},
		"the same value in other bytes": {
			`"event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{"b":1.0,"a":[]}}`, nil,
		},
	} {
		got := testkit.Read[DeliveryList](t, w.ask(t, "deliveries", row.fields))
		note := ""
		if row.want == nil {
			note = noteNoMatch
		}
		if diff := cmp.Diff(row.want, shownStates(got)); diff != "" || got.NextCursor != nil || got.Note != note {
			t.Errorf("%s: note %q (-want +got)\n%s", name, got.Note, diff)
		}
	}
}

func TestHandler_searchDeliveries_findsEveryContentThatIsNotAcknowledged(t *testing.T) {
	const one, other = `{"type":"user.deleted","data":{}}`, `{"type":"user.banned","data":{}}`
	foreign := made("webhook_1", delivery.Dead, one)
	foreign.TenantID = "other"
	another := made("webhook_1", delivery.Dead, one)
	another.EventID = "evt_2"
	w := &world{
		endpoints: []endpoint.Endpoint{
			{ID: "webhook_1", TenantID: "acme"}, {ID: "webhook_2", TenantID: "acme", Status: endpoint.Deleted},
		},
		open: map[string][][]delivery.Record{
			"webhook_2": {{made("webhook_2", delivery.Retrying, one)}},
			"webhook_1": {
				{foreign, made("webhook_1", delivery.Waiting, one)}, {another}, {made("webhook_1", delivery.Dead, other)},
			},
		},
	}
	got := testkit.Read[DeliveryList](t, w.ask(t, "deliveries", `"event_id":"evt_1","tenant_id":"acme"`))
	want := []string{"webhook_1 waiting", "webhook_1 dead", "webhook_2 retrying"}
	if diff := cmp.Diff(want, shownStates(got)); diff != "" || got.NextCursor != nil || got.Note != noteSearched {
		t.Errorf("note %q (-want +got)\n%s", got.Note, diff)
	}
	none := testkit.Read[DeliveryList](t, w.ask(t, "deliveries", `"event_id":"evt_1","tenant_id":"none"`))
	empty := DeliveryList{List: operator.List[Delivery]{Data: []Delivery{}}, Note: noteNone + noteSearched}
	if diff := cmp.Diff(empty, none); diff != "" {
		t.Errorf("of a tenant without endpoints (-want +got)\n%s", diff)
	}
}

func TestHandler_searchDeliveries_saysWhereItStopped(t *testing.T) {
	page := []delivery.Record{made("webhook_1", delivery.Waiting, `{}`)}
	pages := func(n int) [][]delivery.Record { return slices.Repeat([][]delivery.Record{page}, n) }
	for name, row := range map[string]struct {
		pages, found int
		note         string
	}{
		"ten pages":      {10, 10, noteSearched},
		"more than that": {11, 10, noteSearched + noteBound},
	} {
		w := &world{
			endpoints: []endpoint.Endpoint{{ID: "webhook_1", TenantID: "acme"}, {ID: "webhook_2", TenantID: "acme"}},
			open:      map[string][][]delivery.Record{"webhook_1": pages(row.pages), "webhook_2": pages(row.pages)},
		}
		got := testkit.Read[DeliveryList](t, w.ask(t, "deliveries", `"event_id":"evt_1","tenant_id":"acme"`))
		if len(got.Data) != 2*row.found || got.Note != row.note || len(w.asked) != 20 {
			t.Errorf("%s: %d found, note %q after %d pages", name, len(got.Data), got.Note, len(w.asked))
		}
	}
}
