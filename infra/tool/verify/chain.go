package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/story"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// mainInbox is that of the main endpoint.
const mainInbox = "main"

// subscribe makes an endpoint for an inbox. The inbox's address says how it answers. Each inbox has a separate
// endpoint, so that failures there stay out of the main endpoint's circuit.
func (r *run) subscribe(ctx context.Context, inbox, eventType string) (client.Endpoint, error) {
	return r.tenant.CreateEndpoint(ctx, r.Receiver.URL()+"/"+inbox, eventType)
}

// failing is the address of an inbox that answers 503 for a day.
func failing(inbox string) string {
	return inbox + "?until=" + strconv.FormatInt(time.Now().Add(24*time.Hour).UnixMilli(), 10)
}

// mend moves an endpoint to an inbox that works.
func (r *run) mend(ctx context.Context, e client.Endpoint, inbox string) error {
	change := management.EndpointChange{
		NewEndpoint: management.NewEndpoint{URL: management.Of(r.Receiver.URL() + "/" + inbox)},
	}
	return r.tenant.Call(ctx, http.MethodPatch, "/v1/webhooks/"+e.ID, change, nil)
}

// at is the scene of an endpoint and its inbox. Its requests are judged by the main endpoint's secret.
func (r *run) at(inbox string, e client.Endpoint) story.Scene {
	requests := func(ctx context.Context) ([]receiver.Request, error) {
		all, err := r.Receiver.Requests(ctx, inbox)
		for n := range all {
			all[n].Standard = all[n].Genuine(r.secret)
		}
		return all, err
	}
	return story.Scene{Tenant: r.tenant, Endpoint: e, Requests: requests, Patience: r.Patience}
}

// sample is an event type, or another one where the stack's catalogue does not have it.
func sample(eventType string) string { return examples.Choose(eventType)[0] }

// publish sends the sample of an event type under a new id.
func (r *run) publish(ctx context.Context, eventType string) (m examples.Message, at time.Time, err error) {
	m, err = examples.Event(eventType, r.id)
	if err != nil {
		return m, at, fmt.Errorf("reading the sample: %w", err)
	}
	now := time.Now().UnixNano()
	m.ID = "verify_" + strconv.FormatInt(now, 36)
	m = m.Unlike(now)
	at, err = r.at(mainInbox, r.endpoint).Publish(ctx, m)
	return m, at, err
}

// arrive waits for the event at the main endpoint, and checks its type, body and signature.
func (r *run) arrive(ctx context.Context, m examples.Message) (receiver.Request, error) {
	got, err := r.at(mainInbox, r.endpoint).Arrival(ctx, m)
	if err != nil {
		return got, r.lost(ctx, m, err)
	}
	return got, story.Genuine(got, m)
}

// timed publishes an event of each type, with a pause after each, waits for all, and returns how long they took, the
// shortest time first.
func (r *run) timed(
	ctx context.Context, apart time.Duration, types ...string,
) (events []examples.Message, took []time.Duration, err error) {
	var sent []time.Time
	for _, eventType := range types {
		m, at, err := r.publish(ctx, eventType)
		if err != nil {
			return nil, nil, err
		}
		events, sent = append(events, m), append(sent, at)
		client.Pause(ctx, apart)
	}
	for n, m := range events {
		got, err := r.arrive(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		took = append(took, got.At.Sub(sent[n]))
	}
	slices.Sort(took)
	return events, took, nil
}

// once publishes an event and waits for its one delivery.
func (r *run) once(ctx context.Context) error {
	_, _, err := r.timed(ctx, 0, sample("user.created"))
	return err
}

// silence is how long nothing may arrive.
const silence = 3 * time.Second

func (r *run) silent(ctx context.Context, m examples.Message) error {
	if !client.Pause(ctx, silence) {
		return ctx.Err()
	}
	got, err := r.Receiver.Requests(ctx, mainInbox)
	if slices.ContainsFunc(got, func(q receiver.Request) bool { return string(q.Body) == m.Payload() }) {
		return errors.New("it got the event all the same")
	}
	return err
}

// lost adds to an error why a consequence of an event did not come: the link of the chain at which it stopped.
func (r *run) lost(ctx context.Context, m examples.Message, err error) error {
	return fmt.Errorf("%w: %s", err, r.stuck(ctx, m))
}

// stuck says in one sentence at which link of the chain an event stopped.
func (r *run) stuck(ctx context.Context, m examples.Message) string {
	summary, err := client.Ask(ctx, r.Client, api.GetSummary, api.SummaryRequest{})
	if err != nil {
		return fmt.Sprintf("inspect does not work: %v", err)
	}
	if d := summary.Queues["EventsQueue"]; d.Visible+d.InFlight > 0 {
		return "fanout does not get its events off EventsQueue: is its mapping enabled, may it start, may it read its " +
			"tables? Its log says more"
	}
	found, err := client.Ask(ctx, r.Client, api.ListDeliveries, api.DeliveriesRequest{TenantID: Tenant, EventID: m.ID})
	if err != nil {
		return fmt.Sprintf("inspect does not find deliveries: %v", err)
	}
	if d := summary.Queues["DeliveryQueue"]; len(found.Data) == 0 && d.Visible+d.InFlight > 0 {
		return "deliver does not get its deliveries off DeliveryQueue: is its mapping enabled, may it start, may it use " +
			"tables and key, has the account processes left, does a VPC have the endpoints that it needs? Its log says more"
	}
	for _, d := range found.Data {
		switch d.State {
		case delivery.Waiting:
			return fmt.Sprintf("it waits in Backlog (%s): does release run every minute?", d.Reason)
		case delivery.Retrying, delivery.Queued:
			return fmt.Sprintf("deliver does not reach the receiver: %s, status %d after %d attempts",
				d.Reason, d.LastStatus, d.Attempts)
		case delivery.Dead:
			return fmt.Sprintf("the delivery is dead (%s): look at deadletter and replay", d.Reason)
		}
	}
	if d := summary.Queues["DeadLetterQueue"]; d.Visible+d.InFlight > 0 {
		return "deadletter does not get dead deliveries off DeadLetterQueue: may it use the key and the table? " +
			"Its log says more"
	}
	return "fanout took the event, and no delivery of it is known: did deliver acknowledge it to another receiver?"
}
