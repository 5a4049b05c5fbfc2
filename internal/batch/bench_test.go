package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
)

// Invocations as Lambda sends them, with bodies of 500 bytes: what it costs until the handler has its records.
func BenchmarkInvocationHandler(b *testing.B) {
	for _, row := range []struct {
		name   string
		n      int
		record func(i int) events.SQSMessage
	}{
		{"50 deliveries", 50, deliveryRecord}, {"1 delivery", 1, deliveryRecord}, {"50 events", 50, eventRecord},
	} {
		b.Run(row.name, func(b *testing.B) {
			payload := invocation(b, row.n, row.record)
			var got int
			h := Handler(func(_ context.Context, records []queue.Record) []string { got = len(records); return nil })
			b.SetBytes(int64(len(payload)))
			for b.Loop() {
				if _, err := h.Invoke(b.Context(), payload); err != nil || got != row.n {
					b.Fatal(got, err)
				}
			}
		})
	}
}

func invocation(tb testing.TB, n int, record func(i int) events.SQSMessage) []byte {
	tb.Helper()
	event := events.SQSEvent{Records: make([]events.SQSMessage, n)}
	for i := range event.Records {
		event.Records[i] = record(i)
	}
	payload, err := json.Marshal(event)
	if err != nil {
		tb.Fatal(err)
	}
	return payload
}

var benchBody = `{"type":"user.updated","data":{"note":"` + strings.Repeat("x", 460) + `"}}`

func eventRecord(i int) events.SQSMessage {
	return events.SQSMessage{
		MessageId:      fmt.Sprintf("059f36b4-87a3-44ab-83d2-%012d", i),
		ReceiptHandle:  fmt.Sprint(strings.Repeat("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a", 6), i),
		Body:           fmt.Sprintf(`{"id":"evt_%d","tenant_id":"t",%s`, i, benchBody[1:]),
		Md5OfBody:      "e4e68fb7bd0e697a0ae8f1bb342846b3",
		EventSource:    "aws:sqs",
		EventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:DeliveryQueue",
		AWSRegion:      "eu-central-1",
		Attributes: map[string]string{
			"ApproximateReceiveCount": "1", "SentTimestamp": "1700000000000", "SenderId": "AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp": "1700000000001", "MessageGroupId": "t",
		},
		MessageAttributes: map[string]events.SQSMessageAttribute{},
	}
}

func deliveryRecord(i int) events.SQSMessage {
	r := eventRecord(i)
	r.Body = benchBody
	for name, a := range queue.Attributes(delivery.Message{Ref: delivery.Ref{
		DeliveryID: "msg_rcbccxvatto4aycemysznrkllzmw235f", TenantID: "tenant_bench",
		EndpointID: "webhook_01JD0000000000000000000000", EventID: fmt.Sprint("evt_", i), CreatedAt: time.Now(),
	}}) {
		r.MessageAttributes[name] = events.SQSMessageAttribute{StringValue: a.StringValue, DataType: "String",
			StringListValues: []string{}, BinaryListValues: [][]byte{}}
	}
	return r
}
