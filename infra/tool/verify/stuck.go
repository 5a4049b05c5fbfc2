package verify

import (
	"context"
	"fmt"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func (r *run) queues(ctx context.Context) (map[string]api.Depth, error) {
	summary, err := client.Ask(ctx, r.Client, api.GetSummary, api.SummaryRequest{})
	return summary.Queues, err
}

// stuck says in one sentence at which link of the chain an event stopped.
func (r *run) stuck(ctx context.Context, m examples.Message) string {
	queues, err := r.queues(ctx)
	if err != nil {
		return fmt.Sprintf("inspect does not work: %v", err)
	}
	if d := queues["EventsQueue"]; d.Visible+d.InFlight > 0 {
		return "fanout does not get its events off EventsQueue: is its mapping enabled, may it start, may it read its " +
			"tables? Its log says more"
	}
	where := api.DeliveriesRequest{TenantID: Tenant, EventID: m.ID}
	found, err := client.Ask(ctx, r.Client, api.ListDeliveries, where)
	if err != nil {
		return fmt.Sprintf("inspect does not find deliveries: %v", err)
	}
	if d := queues["DeliveryQueue"]; len(found.Data) == 0 && d.Visible+d.InFlight > 0 {
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
	if d := queues["DeadLetterQueue"]; d.Visible+d.InFlight > 0 {
		return "deadletter does not get dead deliveries off DeadLetterQueue: may it use the key and the table? " +
			"Its log says more"
	}
	return "fanout took the event, and no delivery of it is known: did deliver acknowledge it to another receiver?"
}
