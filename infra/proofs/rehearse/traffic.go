package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	"github.com/herald-webhooks/herald/infra/kit/story"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// issued finds the key in the output of `sam remote invoke`.
var issued = regexp.MustCompile(`"api_key": ?"(hk_[^"]+)"`)

// route takes the place of API Gateway's route to webhooks, which the engine lacks.
type route struct{ *client.Client }

// RoundTrip has webhooks answer, as API Gateway does.
func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	request := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: req.Method + " " + req.URL.Path, RawPath: req.URL.Path, Body: string(body),
		Headers: map[string]string{
			"authorization": req.Header.Get("Authorization"), "content-type": req.Header.Get("Content-Type"),
		},
	}
	request.RequestContext.RequestID, request.RequestContext.Stage = "rehearsal", "$default"
	request.RequestContext.HTTP.Method, request.RequestContext.HTTP.Path = req.Method, req.URL.Path
	payload, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	text, err := r.Invoke(req.Context(), api.Webhooks, payload)
	if err != nil {
		return nil, err
	}
	var answer events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("webhooks answered %s: %w", text, err)
	}
	return &http.Response{StatusCode: answer.StatusCode, Body: io.NopCloser(strings.NewReader(answer.Body))}, nil
}

// deliver registers the inbox, publishes an event, and waits until the receiver has verified its delivery.
func deliver(
	ctx context.Context, e *engine, stack *deployed, key string, in *receiver.Inbox,
) (receiver.Request, error) {
	tenant := client.New(statefile.State{
		TenantID: "tenant_acme", APIKey: key, APIURL: "https://api.invalid", Region: region, AWSEndpointURL: e.url,
		EventsQueueURL: stack.values["EventsQueueUrl"],
		Functions:      map[string]string{"webhooks": stack.values["WebhooksFunctionName"] + ":live"},
	})
	tenant.HTTP.Transport = route{tenant}
	scene := story.Scene{Tenant: tenant, Requests: in.Answered, Patience: time.Minute}
	eventType := examples.Choose("user.created")[0]
	made, err := tenant.CreateEndpoint(ctx, in.URL, "user.*", eventType)
	if err != nil {
		return receiver.Request{}, err
	}
	answers := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	if err := in.Verify(made.SigningSecret, answers); err != nil {
		return receiver.Request{}, err
	}
	m, err := examples.Event(eventType, tenant.TenantID)
	if err == nil {
		_, err = scene.Publish(ctx, m)
	}
	if err != nil {
		return receiver.Request{}, err
	}
	got, err := scene.Arrival(ctx, m)
	if err != nil {
		return got, err
	}
	return got, story.Genuine(got, m)
}
