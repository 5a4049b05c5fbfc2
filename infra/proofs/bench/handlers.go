package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/internal/edges/batch"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	deliverhandler "github.com/herald-webhooks/herald/internal/pipeline/deliver"
	fanouthandler "github.com/herald-webhooks/herald/internal/pipeline/fanout"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const (
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwABCDEFGHIJI=" //nolint:gosec // signs nothing but the benchmark
	tenant   = "tenant_bench"
	queueARN = "arn:aws:sqs:eu-central-1:000000000000"
)

// deliver measures the deliver handler: everything between Lambda's payload and its answer.
func deliver(in workload) (measurement, error) {
	c, err := configured[deliverhandler.Settings](in, "deliver")
	if err != nil {
		return measurement{}, err
	}
	h, err := deliverhandler.New(c)
	if err != nil {
		return measurement{}, err
	}
	return invocations(h.Process, deliveries(in), in)
}

// fanOut measures the fanout handler. A delivery here is an event.
func fanOut(in workload) (measurement, error) {
	c, err := configured[fanouthandler.Settings](in, "fanout")
	if err != nil {
		return measurement{}, err
	}
	h, err := fanouthandler.New(c)
	if err != nil {
		return measurement{}, err
	}
	return invocations(h.Process, published(in), in)
}

// configured is a function's configuration as the template has it, with the receiver and AWS on this machine. A batch
// goes to one endpoint at once, as many attempts as the bare client makes.
func configured[S any](in workload, function string) (c config.Function[S], err error) {
	resources := map[string]string{"SecretsKey.Arn": "key"}
	for _, table := range []string{"Endpoints", "EndpointHealth", "Deliveries", "Backlog"} {
		resources[table] = table
	}
	for _, name := range []string{
		"DeliveryQueue", "RetryQueue", "SlowQueue", "DeadLetterQueue", "EventsDeadLetterQueue",
	} {
		resources[name], resources[name+".Arn"] = in.AWS+"/"+name, queueARN+":"+name
	}
	c.Settings, err = functions.Read[S](functions.Options{Resources: resources, Parameters: map[string]string{
		parameters.Stage: egress.LocalStage, parameters.EndpointConcurrency: strconv.Itoa(in.Batch),
		parameters.EgressAllowCidrs: "127.0.0.1/32", parameters.EgressAllowPorts: "1024-65535",
	}}, function)
	if err != nil {
		return c, err
	}
	c.AWS, err = config.AWS()
	c.Log = lambdacontext.NewLogger()
	c.Metrics = telemetry.NewMetrics(os.Stdout, "bench", function, time.Now)
	return c, err
}

// identity is an invocation's.
var identity = &lambdacontext.LambdaContext{AwsRequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}

// invocations measures the handler over the workload's invocations with these records.
func invocations(h batch.Handler, records []events.SQSMessage, in workload) (measurement, error) {
	payload, err := json.Marshal(events.SQSEvent{Records: records})
	if err != nil {
		return measurement{}, err
	}
	invoke := func(n int) error {
		for range n {
			ctx, cancel := context.WithTimeout(lambdacontext.NewContext(context.Background(), identity), 30*time.Second)
			answer, err := h.Invoke(ctx, payload)
			cancel()
			if err != nil {
				return err
			}
			if string(answer) != `{"batchItemFailures":[]}` {
				return fmt.Errorf("the handler did not deliver every record: %s", answer)
			}
		}
		return nil
	}
	if err := invoke(warmups); err != nil {
		return measurement{}, err
	}
	return measure(in, func() error { return invoke(in.Invocations) })
}

const endpointID = "webhook_01JD0000000000000000000000"

// deliveryBody is {"type":…,"data":…} of 500 bytes.
func deliveryBody() []byte {
	const head, tail = `{"type":"user.updated","data":{"userId":"user_2c9WZ1","note":"`, `"}}`
	return []byte(head + strings.Repeat("x", 500-len(head)-len(tail)) + tail)
}

// deliveries are the records of one invocation of deliver.
func deliveries(in workload) (records []events.SQSMessage) {
	body := deliveryBody()
	content := delivery.ContentOf(body)
	for i := range in.Batch {
		eventID := fmt.Sprint("evt_", i)
		ref := delivery.Ref{DeliveryID: delivery.ID(tenant, eventID, endpointID, content), TenantID: tenant,
			EndpointID: endpointID, EventID: eventID, CreatedAt: time.Now()}
		r := record(i, string(body))
		r.MessageAttributes = sqsevent.Attributes(queue.Attributes(delivery.Message{Ref: ref, Body: body}))
		records = append(records, r)
	}
	return records
}

// published are the records of one invocation of fanout.
func published(in workload) (records []events.SQSMessage) {
	for i := range in.Batch {
		body := fmt.Sprintf(`{"id":"evt_%d","tenant_id":"%s","occurred_at":"2026-01-02T03:04:05Z",%s`,
			i, tenant, deliveryBody()[1:])
		records = append(records, record(i, body))
	}
	return records
}

func record(i int, body string) events.SQSMessage {
	return events.SQSMessage{
		MessageId:      fmt.Sprintf("059f36b4-87a3-44ab-83d2-%012d", i),
		ReceiptHandle:  strings.Repeat("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a", 6),
		Body:           body,
		Md5OfBody:      "e4e68fb7bd0e697a0ae8f1bb342846b3",
		EventSource:    "aws:sqs",
		EventSourceARN: queueARN + ":DeliveryQueue",
		AWSRegion:      "eu-central-1",
		Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "SentTimestamp": "1700000000000", "SenderId": "AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp": "1700000000001", "MessageGroupId": endpointID,
		},
		MessageAttributes: map[string]events.SQSMessageAttribute{},
	}
}
