package inspect

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// made is the record of a delivery of acme's event evt_1 with this body.
func made(endpointID string, state delivery.State, body string) delivery.Record {
	return delivery.Record{State: state, Ref: delivery.Ref{
		DeliveryID: delivery.ID("acme", "evt_1", endpointID, delivery.ContentOf([]byte(body))), TenantID: "acme",
		EndpointID: endpointID, EventID: "evt_1",
	}}
}

func shownStates(list api.DeliveryList) (states []string) {
	for _, d := range list.Data {
		states = append(states, d.EndpointID+" "+string(d.State))
	}
	return states
}

func TestHandler_deliveriesOfEvent_findsThoseOfItsExactBody(t *testing.T) {
	const body = `{"type":"user.deleted","data":{ "b":1.0,"a":[] }}`
	unnamed := made("webhook_4", delivery.Acknowledged, body)
	unnamed.DeliveryID = delivery.ID("acme", "0b7c", "webhook_4", delivery.ContentOf([]byte(body)))
	put := func(a *account) {
		a.putEndpoints([]endpoint.Endpoint{
			{ID: "webhook_1", TenantID: "acme", Status: endpoint.Deleted}, {ID: "webhook_2", TenantID: "acme"},
			{ID: "webhook_3", TenantID: "acme"}, {ID: "webhook_4", TenantID: "acme"}, {ID: "webhook_5", TenantID: "other"},
		}...)
		a.putDeliveries(
			made("webhook_3", delivery.Acknowledged, body), made("webhook_1", delivery.Discarded, body),
			made("webhook_2", delivery.Dead, `{"type":"user.deleted","data":{}}`), unnamed, delivery.Record{Ref: ref("msg_1")},
		)
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
		inAccount(t, func(a *account) {
			put(a)
			got := read[api.DeliveryList](a, "deliveries", row.fields)
			note := ""
			if row.want == nil {
				note = noteNoMatch
			}
			if diff := cmp.Diff(row.want, shownStates(got)); diff != "" || got.NextCursor != nil || got.Note != note {
				t.Errorf("%s: note %q (-want +got)\n%s", name, got.Note, diff)
			}
		})
	}
}

func TestHandler_searchDeliveries_findsEveryContentThatIsNotAcknowledged(t *testing.T) {
	const one, other = `{"type":"user.deleted","data":{}}`, `{"type":"user.banned","data":{}}`
	foreign := made("webhook_1", delivery.Dead, one)
	foreign.TenantID = "other"
	another := made("webhook_1", delivery.Dead, one)
	another.EventID = "evt_2"
	inAccount(t, func(a *account) {
		a.putEndpoints(
			endpoint.Endpoint{ID: "webhook_1", TenantID: "acme"},
			endpoint.Endpoint{ID: "webhook_2", TenantID: "acme", Status: endpoint.Deleted},
		)
		foreign.DeliveryID += "_foreign"
		another.DeliveryID += "_another"
		a.putDeliveries(
			made("webhook_2", delivery.Retrying, one), foreign, made("webhook_1", delivery.Waiting, one), another,
			made("webhook_1", delivery.Dead, other),
			made("webhook_1", delivery.Acknowledged, `{"type":"user.created","data":{}}`),
		)
		got := read[api.DeliveryList](a, "deliveries", `"event_id":"evt_1","tenant_id":"acme"`)
		want := []string{"webhook_1 waiting", "webhook_1 dead", "webhook_2 retrying"}
		diff := cmp.Diff(want, shownStates(got), inAnyOrder)
		if diff != "" || got.NextCursor != nil || got.Note != noteSearched {
			t.Errorf("note %q (-want +got)\n%s", got.Note, diff)
		}
		if last := got.Data[len(got.Data)-1].EndpointID; last != "webhook_2" {
			t.Errorf("the last is of %s, the oldest endpoint comes first", last)
		}
		none := read[api.DeliveryList](a, "deliveries", `"event_id":"evt_1","tenant_id":"none"`)
		empty := api.DeliveryList{List: api.List[api.Delivery]{Data: []api.Delivery{}}, Note: noteNone + noteSearched}
		if diff := cmp.Diff(empty, none); diff != "" {
			t.Errorf("of a tenant without endpoints (-want +got)\n%s", diff)
		}
	})
}

var inAnyOrder = cmpopts.SortSlices(func(a, b string) bool { return a < b })

func TestHandler_searchDeliveries_saysWhereItStopped(t *testing.T) {
	const most = searchPage * searchPages
	for name, row := range map[string]struct {
		open, found int
		note        string
	}{
		"fewer than are searched": {most - 1, most - 1, noteSearched},
		"more than that":          {most + 1, most, noteSearched + noteBound},
	} {
		inAccount(t, func(a *account) {
			for _, id := range []string{"webhook_1", "webhook_2"} {
				a.putEndpoints(endpoint.Endpoint{ID: id, TenantID: "acme"})
				for n := range row.open {
					a.putDeliveries(made(id, delivery.Waiting, fmt.Sprint(n)))
				}
			}
			got := read[api.DeliveryList](a, "deliveries", `"event_id":"evt_1","tenant_id":"acme"`)
			if len(got.Data) != 2*row.found || got.Note != row.note {
				t.Errorf("%s: %d found, note %q", name, len(got.Data), got.Note)
			}
		})
	}
}

// A slow table leaves a part: what was found is shown, and how much is missing.
func TestHandler_searchDeliveries_saysForWhatItHadNoTime(t *testing.T) {
	inAccount(t, func(a *account) {
		for _, id := range []string{"webhook_1", "webhook_2"} {
			a.putEndpoints(endpoint.Endpoint{ID: id, TenantID: "acme"})
			a.putDeliveries(made(id, delivery.Waiting, "1"))
		}
		var slow atomic.Int64
		a.verdict = func(c *model.Call) model.Verdict {
			if c.Name == "List Deliveries" {
				time.Sleep(time.Duration(slow.Add(1)) * 3 * time.Second)
			}
			return model.Done
		}
		ctx, cancel := context.WithTimeout(a.Context(), invoke.Reserve+time.Second)
		defer cancel()
		request := `{"action":"deliveries","operator":"ann","event_id":"evt_1","tenant_id":"acme"}`
		for _, id := range []string{"webhook_1", "webhook_2"} { // each has another page behind the first
			for n := range searchPage {
				a.putDeliveries(made(id, delivery.Waiting, fmt.Sprint("more ", n)))
			}
		}
		out, err := a.function().Invoke(ctx, []byte(request))
		if err != nil {
			t.Fatal(err)
		}
		got := testkit.Read[api.DeliveryList](t, string(out))
		if len(got.Data) == 0 || got.Note != noteSearched+fmt.Sprintf(noteLate, 2, 2) {
			t.Errorf("%d found, note %q", len(got.Data), got.Note)
		}
	})
}
