package webhooks

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// test sends one delivery to the endpoint because its owner asks for it. Its result is for operators: the answer tells
// nothing of the receiver. A refused test counts for nothing. A counted one may still fail, and is not sent again.
//
// deliver asks the gate again: a test that cannot be sent by then is discarded, and so is one that fails. Tests are
// counted by one conditional write each, in a row of the table Deliveries for each tenant, domain and minute, since an
// id would not outlast its endpoint. Readers of that table name ids of deliveries, so none meets these rows.
func (h *Handler) test(ctx context.Context, c *call) (any, error) {
	sample, err := readTest(c.body)
	if err != nil {
		return nil, err
	}
	e, err := h.load(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := h.untestable(ctx, e); err != nil {
		return nil, err
	}
	counted, err := h.countTest(ctx, e, c.now)
	switch {
	case err != nil:
		return nil, err
	case !counted:
		return nil, problem.New(problem.CodeTooManyTests)
	}
	m := delivery.NewTest(delivery.Ref{
		TenantID: e.TenantID, EndpointID: e.ID, EventID: "test_" + h.Tests.NewID(), CreatedAt: c.now,
	}, sample.Name, sample.Example)
	c.deliveryID = m.DeliveryID
	line := c.about("test", e)
	line.DeliveryID = m.DeliveryID
	if err := h.tell(ctx, c, line); err != nil {
		return nil, err
	}
	err = h.Tests.Deliveries.Send(ctx, []queue.Outgoing{queue.Of(m, 0)})[0]
	return management.TestSent{DeliveryID: m.DeliveryID}, err
}

// countTest counts a test at the endpoint's site, which may be somebody else's. It returns false if the minute takes no
// more. A site takes PerMinute tests for each live endpoint that the tenant has there, whichever of them is tested: an
// endpoint that is deleted and created again gains none. The endpoints are counted only beyond the tests of one.
func (h *Handler) countTest(ctx context.Context, e endpoint.Endpoint, now time.Time) (counted bool, err error) {
	key := dynamo.SiteKey{TenantID: e.TenantID, Site: endpoint.SiteOf(e.URL)}
	counted, err = h.Tests.Counts.CountTest(ctx, key, h.Tests.PerMinute, now)
	if counted || err != nil {
		return counted, err
	}
	live, err := h.Endpoints.Live(ctx, e.TenantID)
	if err != nil {
		return false, err
	}
	atSite := 0
	for _, other := range live {
		if endpoint.SiteOf(other.URL) == key.Site {
			atSite++
		}
	}
	if atSite <= 1 {
		return false, nil
	}
	return h.Tests.Counts.CountTest(ctx, key, atSite*h.Tests.PerMinute, now)
}

// untestable says why no delivery would be sent to the endpoint now.
func (h *Handler) untestable(ctx context.Context, e endpoint.Endpoint) error {
	marks, err := h.Endpoints.Marks(ctx, e.TenantID)
	if err != nil {
		return err
	}
	state, err := h.Tests.Circuits.State(ctx, e.ID)
	if err != nil {
		return err
	}
	e.Marks = marks.Of(e)
	gate := endpoint.Gate{Endpoint: e, Found: true, Tenant: marks.Tenant, Circuit: circuit.Item{State: state}}
	switch gate.AdmitsAny() {
	case endpoint.Gone:
		return problem.New(problem.CodeEndpointDeleted)
	case endpoint.PausedByOperator:
		return problem.New(problem.CodeEndpointPaused)
	case endpoint.DisabledByOwner:
		return problem.New(problem.CodeEndpointDisabled)
	case endpoint.CircuitOpen:
		return problem.New(problem.CodeCircuitOpen)
	case endpoint.Free, endpoint.PlacesUsed, endpoint.Unsubscribed, endpoint.Discarded:
	case endpoint.WaitsForRate: // a test takes a slot where there is one, and waits for none
	}
	return nil
}

// readTest returns the type to send, with its sample. Without a type it is that of tests, with no data.
func readTest(body []byte) (catalogue.Type, error) {
	plain := catalogue.Type{Name: delivery.TestType, Example: `{}`}
	var in management.Test
	if body == nil {
		return plain, nil
	}
	if err := decode(body, &in); err != nil {
		return catalogue.Type{}, err
	}
	if in.Type.Value == nil {
		return plain, nil
	}
	var r reader
	name, ok := r.text(in.Type.Value, "/type")
	if ok && name == delivery.TestType {
		return plain, nil
	}
	chosen, known := catalogue.Find(name)
	if ok && !known {
		r.refuse("/type", event.Unknown+listed+", beside "+delivery.TestType+event.Suggestion(name))
	}
	return chosen, r.problem()
}
