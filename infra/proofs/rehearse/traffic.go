package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// issued finds the key in the output of `sam remote invoke`.
var issued = regexp.MustCompile(`"api_key": ?"(hk_[^"]+)"`)

// register creates an endpoint as API Gateway's route to webhooks does, and returns its signing secret.
func register(ctx context.Context, e *engine, function, apiKey, url string) (string, error) {
	body, err := json.Marshal(management.NewEndpoint{
		URL: management.Of(url), Events: management.Of([]string{"user.*"}), Description: management.Of("rehearsal"),
	})
	if err != nil {
		return "", fmt.Errorf("encoding the endpoint: %w", err)
	}
	request := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "POST /v1/webhooks", RawPath: "/v1/webhooks", Body: string(body),
		Headers: map[string]string{"authorization": "Bearer " + apiKey, "content-type": "application/json"},
	}
	request.RequestContext.RequestID, request.RequestContext.Stage = "rehearsal", "$default"
	request.RequestContext.HTTP.Method, request.RequestContext.HTTP.Path = http.MethodPost, request.RawPath
	payload, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("encoding the request: %w", err)
	}
	answer, err := lambda.NewFromConfig(e.config()).Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &function, Qualifier: aws.String("live"), Payload: payload,
	})
	if err != nil {
		return "", fmt.Errorf("invoking webhooks: %w", err)
	}
	var created events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(answer.Payload, &created); err != nil || created.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("webhooks answered %s: %w", answer.Payload, err)
	}
	var made management.Endpoint
	if err := json.Unmarshal([]byte(created.Body), &made); err != nil || made.SigningSecret == "" {
		return "", fmt.Errorf("webhooks answered no secret: %w", err)
	}
	return made.SigningSecret, nil
}

// event is a message of the auth service.
const event = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_rehearsal"}}`

// deliver publishes an event and waits until the receiver has verified its delivery and answered 2xx.
func deliver(ctx context.Context, e *engine, queue string, in *receiver.Inbox) (receiver.Request, error) {
	_, err := sqs.NewFromConfig(e.config()).SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &queue, MessageBody: aws.String(event),
	})
	if err != nil {
		return receiver.Request{}, fmt.Errorf("publishing: %w", err)
	}
	for {
		if got := in.Requests(); len(got) > 0 {
			first := got[0]
			if first.Standard != nil || first.Status/100 != 2 {
				return first, fmt.Errorf("the delivery was answered %d: %w", first.Status, first.Standard)
			}
			return first, nil
		}
		select {
		case <-ctx.Done():
			return receiver.Request{}, errors.New("no delivery arrived")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
