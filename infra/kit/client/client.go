// Package client uses a running Herald stack as its users do: the HTTP API as a tenant, the
// events queue as the auth service, the Invoke API as an Instance Manager.
//
// It promises to know the stack only from a description such as its state file (stack.json),
// and to reach it only over the wire. It is for tools and the end-to-end tests, and is not
// part of the deployed service.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// Client talks to one stack as one tenant. Its State holds that tenant's id and key.
type Client struct {
	statefile.State
	Operator string // in the audit lines of this client's acts
	HTTP     *http.Client
	SQS      *sqs.Client
	Lambda   *lambda.Client
	DynamoDB *dynamodb.Client

	EventBridge *eventbridge.Client
}

// New returns a client for the stack's own tenant.
func New(s statefile.State) *Client {
	cfg := aws.Config{
		Region:       s.Region,
		BaseEndpoint: aws.String(s.AWSEndpointURL),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	}
	return &Client{
		State:    s,
		Operator: "demo@example.com",
		HTTP:     &http.Client{Timeout: 30 * time.Second},
		SQS:      sqs.NewFromConfig(cfg),
		DynamoDB: dynamodb.NewFromConfig(cfg),

		EventBridge: eventbridge.NewFromConfig(cfg),
		Lambda: lambda.NewFromConfig(cfg, func(o *lambda.Options) {
			o.RetryMaxAttempts = 1 // operator functions must not run twice
		}),
	}
}

// As returns a client for another tenant of the same stack.
func (c *Client) As(tenantID, apiKey string) *Client {
	other := *c
	other.TenantID, other.APIKey = tenantID, apiKey
	return &other
}

// maxTries bounds the tries of a call that is answered 503.
const maxTries = 6

// Problem is a refusal of the management API.
type Problem = problem.Document

// Call calls the management API, and fails unless that succeeds. body and out may be nil. A refusal by Herald is a
// [*Problem]. After a 503 the call is tried again, as its Retry-After asks.
func (c *Client) Call(ctx context.Context, method, path string, body, out any) error {
	status, after, answer, err := c.exchange(ctx, method, path, body)
	for try := 1; err == nil && status == http.StatusServiceUnavailable && try < maxTries && Pause(ctx, after); try++ {
		status, after, answer, err = c.exchange(ctx, method, path, body)
	}
	if err != nil {
		return err
	}
	if status/100 != 2 {
		refused := &Problem{}
		if err := json.Unmarshal(answer, refused); err != nil || refused.Code == "" { // the gateway's own, or empty
			return fmt.Errorf("%s %s: answered %d %s", method, path, status, answer)
		}
		return fmt.Errorf("%s %s: answered %d, %w", method, path, status, refused)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: decoding the answer: %w", method, path, err)
	}
	return nil
}

// exchange returns the answer, and the time of its Retry-After, a second where it has none that can be read.
func (c *Client) exchange(
	ctx context.Context, method, path string, body any,
) (status int, after time.Duration, answer []byte, err error) {
	var payload []byte
	if body != nil {
		payload, err = json.Marshal(body)
		if err != nil {
			return 0, 0, nil, fmt.Errorf("encoding request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.APIURL+path, bytes.NewReader(payload))
	if err != nil {
		return 0, 0, nil, fmt.Errorf("making request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.APIKey)
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("calling the management API: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end below
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("reading answer: %w", err)
	}
	after, err = time.ParseDuration(resp.Header.Get("Retry-After") + "s")
	if err != nil {
		after = time.Second
	}
	return resp.StatusCode, after, answer, nil
}

// Endpoint is a webhook endpoint as the management API shows it.
type Endpoint = management.Endpoint

// CreateEndpoint registers url for the events and returns the endpoint with its signing secret. A creation that was
// answered 503 may still have happened. CreateEndpoint then finds the endpoint, and gives it a new secret.
func (c *Client) CreateEndpoint(ctx context.Context, url string, events ...string) (made Endpoint, err error) {
	request := management.NewEndpoint{
		URL: management.Of(url), Events: management.Of(events), Description: management.Of("made by " + c.TenantID),
	}
	err = c.Call(ctx, http.MethodPost, "/v1/webhooks", request, &made)
	var refused *Problem
	if !errors.As(err, &refused) || refused.Code != problem.CodeDuplicateURL {
		return made, err
	}
	var list management.EndpointList
	if err := c.Call(ctx, http.MethodGet, "/v1/webhooks?limit=100", nil, &list); err != nil {
		return made, err
	}
	for _, e := range list.Data {
		if e.URL == url {
			err = c.Call(ctx, http.MethodPost, "/v1/webhooks/"+e.ID+"/rotate-secret", nil, &made)
		}
	}
	return made, err
}

// Publish puts one event message on the events queue and returns its SQS message id.
func (c *Client) Publish(ctx context.Context, body string) (string, error) {
	out, err := c.SQS.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &c.EventsQueueURL, MessageBody: &body,
	})
	if err != nil {
		return "", fmt.Errorf("publishing event: %w", err)
	}
	return *out.MessageId, nil
}

// Send sends messages to a queue of the stack, by its URL.
func (c *Client) Send(ctx context.Context, url string, messages []queue.Outgoing) error {
	if err := errors.Join(queue.Sender{Client: c.SQS, URL: url}.Send(ctx, messages)...); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	return nil
}

// SendEvents sends event messages to a queue of the stack, by its URL.
func (c *Client) SendEvents(ctx context.Context, url string, events []examples.Message) error {
	messages := make([]queue.Outgoing, len(events))
	for n, e := range events {
		body, err := e.Body()
		if err != nil {
			return fmt.Errorf("making an event: %w", err)
		}
		messages[n].Body = body
	}
	return c.Send(ctx, url, messages)
}
