//go:build emulator

package queue_test

import (
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

// real is a queue of the emulator.
type real struct {
	queue.Sender
	queue.Visibility
	cfg  aws.Config
	name testkit.Queue
}

func (q real) Receive(t testing.TB) (received []events.SQSMessage) {
	t.Helper()
	for _, m := range testkit.Receive(t, q.cfg, q.name, 0) {
		received = append(received, events.SQSMessage{
			MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Attributes: m.Attributes,
			MessageAttributes: sqsevent.Attributes(m.MessageAttributes),
		})
	}
	return received
}

func (q real) Delete(t testing.TB, receipt string) {
	t.Helper()
	in := &sqs.DeleteMessageInput{QueueUrl: &q.name.URL, ReceiptHandle: &receipt}
	if _, err := sqs.NewFromConfig(q.cfg).DeleteMessage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func TestQueue_keepsItsContract(t *testing.T) {
	// As in Lambda, where the SDK sends the trace of the invocation. The emulator gives it to messages, as SQS does.
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "deliver")
	t.Setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
	cfg := testkit.Moto(t)
	client := sqs.NewFromConfig(cfg)
	for _, p := range storetest.QueuePromises {
		t.Run(p.Name, func(t *testing.T) {
			name := testkit.NewQueue(t, cfg, "RetryQueue")
			sender, visibility := queue.Sender{Client: client, URL: name.URL}, queue.Visibility{Client: client, URL: name.URL}
			p.Holds(t, real{sender, visibility, cfg, name})
		})
	}
}
