package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Ask sends an operator's request, and returns the answer. A refusal is an *[api.Refusal].
//
// It is for programs that stop at the first error. The tool's own client, infra/tool/herald/stack, explains errors of
// AWS to a person and keeps the answer's text. Both share InvokeFunction, and take actions, their encoding and their
// refusals from package api.
func Ask[Request, Answer any](
	ctx context.Context, c *Client, action api.Action[Request, Answer], request Request,
) (answer Answer, err error) {
	payload, err := action.Encode(c.Operator, request)
	if err != nil {
		return answer, err
	}
	text, err := c.Invoke(ctx, action.Function, payload)
	if err != nil {
		return answer, err
	}
	answer, err = action.Decode(text)
	if refusal, refused := errors.AsType[*api.Refusal](err); refused {
		return answer, fmt.Errorf("%s refused: %s: %w", action.Function, refusal.Code, err)
	}
	return answer, err
}

// Invoke calls a function, and returns its answer. A refusal is an answer.
func (c *Client) Invoke(ctx context.Context, function api.Function, payload []byte) ([]byte, error) {
	answer, err := InvokeFunction(ctx, c.Lambda, c.Functions[string(function)], payload)
	if err != nil {
		return nil, fmt.Errorf("invoking %s: %w", function, err)
	}
	return answer, nil
}

// IssueKey issues an API key with both scopes to a tenant.
func (c *Client) IssueKey(ctx context.Context, tenantID string) (string, error) {
	key, err := Ask(ctx, c, api.IssueKey, api.IssueKeyRequest{TenantID: tenantID, Description: "demonstration"})
	return key.APIKey, err
}

// Delivery returns the state of one delivery.
func (c *Client) Delivery(ctx context.Context, id string) (api.Delivery, error) {
	return Ask(ctx, c, api.GetDelivery, api.DeliveryRequest{DeliveryID: id})
}

// DeadLetters lists an endpoint's dead letters, bodies left sealed.
func (c *Client) DeadLetters(ctx context.Context, endpointID string) ([]api.DeadLetter, error) {
	request := api.DeadLettersRequest{Selector: api.Selector{EndpointID: endpointID}}
	list, err := Ask(ctx, c, api.ListDeadLetters, request)
	return list.Data, err
}

// AwaitDeath waits for so many dead letters of an endpoint, and lists them.
func (c *Client) AwaitDeath(
	ctx context.Context, limit time.Duration, endpointID string, n int,
) (letters []api.DeadLetter, err error) {
	err = Eventually(ctx, limit, fmt.Sprintf("%d dead letters", n), func(ctx context.Context) (bool, error) {
		letters, err = c.DeadLetters(ctx, endpointID)
		return len(letters) >= n, err
	})
	return letters, err
}

// DeadLetter opens one dead letter.
func (c *Client) DeadLetter(ctx context.Context, deliveryID string) (api.OpenedDeadLetter, error) {
	return Ask(ctx, c, api.OpenDeadLetter, api.DeliveryRequest{DeliveryID: deliveryID})
}

// Replay sends dead deliveries again and fails unless every one was taken.
func (c *Client) Replay(ctx context.Context, deliveryIDs ...string) error {
	answer, err := Ask(ctx, c, api.ReplayDeliveries, api.ReplayRequest{DeliveryIDs: deliveryIDs})
	if err != nil {
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
	shown, err := Ask(ctx, c, api.GetEndpoint, api.EndpointRequest{TenantID: tenantID, EndpointID: endpointID})
	return shown.Health, shown.Waiting, err
}

// InState lists the ids of the endpoints in a state of trouble.
func (c *Client) InState(ctx context.Context, state api.State) ([]string, error) {
	list, err := Ask(ctx, c, api.ListEndpoints, api.EndpointsRequest{State: state})
	ids := make([]string, 0, len(list.Data))
	for _, e := range list.Data {
		ids = append(ids, e.EndpointID)
	}
	return ids, err
}
