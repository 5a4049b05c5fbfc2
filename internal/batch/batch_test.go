package batch

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/queue"
)

func TestInvocationHandler_Invoke_namesTheFailed(t *testing.T) {
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
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestInvocationHandler_Invoke_refusesHalfAnEvent(t *testing.T) {
	if _, err := Handler(nil).Invoke(t.Context(), []byte(`{"Records":`)); err == nil {
		t.Error("half an event is processed")
	}
}

func TestInvocationHandler_Invoke_handsRecordsOverWhole(t *testing.T) {
	const payload = `{"Records":[{
		"messageId":"m","receiptHandle":"r","body":"{}","attributes":{"ApproximateReceiveCount":"3"},
		"messageAttributes":{"version":{"stringValue":"1","dataType":"String","stringListValues":[],"binaryListValues":[]}},
		"md5OfBody":"x","eventSource":"aws:sqs","eventSourceARN":"arn","awsRegion":"eu-central-1"}]}`
	want := []queue.Record{{
		MessageID: "m", ReceiptHandle: "r", Body: []byte("{}"), EventSourceARN: "arn",
		Attributes:        queue.System{ReceiveCount: "3"},
		MessageAttributes: queue.AttributeList{{Name: "version", StringValue: "1", DataType: "String"}},
	}}
	var got []queue.Record
	h := Handler(func(_ context.Context, records []queue.Record) []string { got = records; return nil })
	if _, err := h.Invoke(t.Context(), []byte(payload)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
