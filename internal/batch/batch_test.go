package batch

import (
	"context"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
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
			h := Handler(func(context.Context, []events.SQSMessage) []string { return row.failed })
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
	version := "1"
	want := []events.SQSMessage{{
		MessageId: "m", ReceiptHandle: "r", Body: "{}", Md5OfBody: "x",
		EventSource: "aws:sqs", EventSourceARN: "arn", AWSRegion: "eu-central-1",
		Attributes: map[string]string{"ApproximateReceiveCount": "3"},
		MessageAttributes: map[string]events.SQSMessageAttribute{"version": {
			StringValue: &version, DataType: "String", StringListValues: []string{}, BinaryListValues: [][]byte{},
		}},
	}}
	var got []events.SQSMessage
	h := Handler(func(_ context.Context, records []events.SQSMessage) []string { got = records; return nil })
	if _, err := h.Invoke(t.Context(), []byte(payload)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
