package client

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// about names the things that an operator's request is about.
type about = map[string]any

// Operate sends an operator's request with these fields and decodes its answer into out.
func (c *Client) Operate(ctx context.Context, function, action string, fields map[string]any, out any) error {
	request := map[string]any{"action": action, "operator": c.Operator}
	maps.Copy(request, fields)
	return c.Invoke(ctx, function, request, out)
}

// IssueKey issues an API key with both scopes to a tenant.
func (c *Client) IssueKey(ctx context.Context, tenantID string) (string, error) {
	var key api.IssuedKey
	err := c.Operate(ctx, "apikeys", "issue", about{"tenant_id": tenantID, "description": "demonstration"}, &key)
	return key.APIKey, err
}

// Delivery is a delivery's state as inspect shows it.
type Delivery = api.Delivery

// DeadLetter is the answer of inspect about a dead letter. In lists, all that is sealed is left out.
type DeadLetter = api.OpenedDeadLetter

// Delivery returns the state of one delivery.
func (c *Client) Delivery(ctx context.Context, id string) (d Delivery, err error) {
	err = c.Operate(ctx, "inspect", "delivery", about{"delivery_id": id}, &d)
	return d, err
}

// DeadLetters lists an endpoint's dead letters, bodies left sealed.
func (c *Client) DeadLetters(ctx context.Context, endpointID string) ([]DeadLetter, error) {
	var list api.List[DeadLetter]
	err := c.Operate(ctx, "inspect", "dead_letters", about{"endpoint_id": endpointID}, &list)
	return list.Data, err
}

// AwaitDeath waits for so many dead letters of an endpoint, and lists them.
func (c *Client) AwaitDeath(
	ctx context.Context, limit time.Duration, endpointID string, n int,
) (letters []DeadLetter, err error) {
	err = Eventually(ctx, limit, fmt.Sprintf("%d dead letters", n), func(ctx context.Context) (bool, error) {
		letters, err = c.DeadLetters(ctx, endpointID)
		return len(letters) >= n, err
	})
	return letters, err
}

// DeadLetter opens one dead letter.
func (c *Client) DeadLetter(ctx context.Context, deliveryID string) (d DeadLetter, err error) {
	err = c.Operate(ctx, "inspect", "dead_letter", about{"delivery_id": deliveryID}, &d)
	return d, err
}

// Replay sends dead deliveries again and fails unless every one was taken.
func (c *Client) Replay(ctx context.Context, deliveryIDs ...string) error {
	var answer api.DeliveryResults
	if err := c.Operate(ctx, "replay", "deliveries", about{"delivery_ids": deliveryIDs}, &answer); err != nil {
		return err
	}
	if len(answer.Data) != len(deliveryIDs) {
		return fmt.Errorf("replay answered %d of %d deliveries", len(answer.Data), len(deliveryIDs))
	}
	for _, d := range answer.Data {
		if d.Result != api.ResultReplayed {
			return fmt.Errorf("replaying %s: %s %s", d.DeliveryID, d.Result, d.Reason)
		}
	}
	return nil
}

// Health returns the circuit of a tenant's endpoint and its waiting deliveries.
func (c *Client) Health(ctx context.Context, tenantID, endpointID string) (api.Health, api.Waiting, error) {
	var shown api.Endpoint
	err := c.Operate(ctx, "inspect", "endpoint", about{"tenant_id": tenantID, "endpoint_id": endpointID}, &shown)
	return shown.Health, shown.Waiting, err
}

// InState lists the ids of the endpoints in a state of trouble.
func (c *Client) InState(ctx context.Context, state string) ([]string, error) {
	var list api.List[api.ListedEndpoint]
	err := c.Operate(ctx, "inspect", "endpoints", about{"state": state}, &list)
	ids := make([]string, 0, len(list.Data))
	for _, e := range list.Data {
		ids = append(ids, e.EndpointID)
	}
	return ids, err
}
