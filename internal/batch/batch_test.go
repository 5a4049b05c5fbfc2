package batch

import (
	"context"
	"testing"

	"github.com/herald-webhooks/herald/internal/queue"
)

func TestAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		failed []string
		want   string
	}{
		"nothing failed is an empty list, never null": {nil, `{"batchItemFailures":[]}`},
		"failures are named": {
			[]string{"a", "b"}, `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := Handler(func(context.Context, []queue.Record) []string { return row.failed })
			got, err := h.Invoke(t.Context(), []byte(`{"Records":[]}`))
			if err != nil || string(got) != row.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	if _, err := Handler(nil).Invoke(t.Context(), []byte(`{"Records":`)); err == nil {
		t.Error("half an event is processed")
	}
}

func TestRecordsArriveWhole(t *testing.T) {
	payload := `{"Records":[{"messageId":"m","receiptHandle":"r","body":"{}","attributes":{"ApproximateReceiveCount":"3"},` +
		`"messageAttributes":{"version":{"stringValue":"1","dataType":"String","stringListValues":[],"binaryListValues":[]}},` +
		`"md5OfBody":"x","eventSource":"aws:sqs","eventSourceARN":"arn","awsRegion":"eu-central-1"}]}`
	var got []queue.Record
	h := Handler(func(_ context.Context, records []queue.Record) []string { got = records; return nil })
	if _, err := h.Invoke(t.Context(), []byte(payload)); err != nil {
		t.Fatal(err)
	}
	r := got[0]
	if r.MessageID != "m" || r.ReceiptHandle != "r" || r.Body != "{}" || r.EventSourceARN != "arn" ||
		r.Attributes.ReceiveCount != "3" || r.MessageAttributes["version"].StringValue != "1" {
		t.Errorf("%+v", r)
	}
}
