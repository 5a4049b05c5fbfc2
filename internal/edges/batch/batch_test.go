package batch

import (
	"context"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
)

const payload = `{"Records":[{
	"messageId":"m","receiptHandle":"r","body":"{}","attributes":{"ApproximateReceiveCount":"3"},
	"messageAttributes":{"version":{"stringValue":"1","dataType":"String","stringListValues":[],"binaryListValues":[]}},
	"md5OfBody":"x","eventSource":"aws:sqs","eventSourceARN":"arn","awsRegion":"eu-central-1"}]}`

func TestHandler_Invoke_handsRecordsOverWholeAndNamesTheFailed(t *testing.T) {
	version := "1"
	want := []events.SQSMessage{{
		MessageId: "m", ReceiptHandle: "r", Body: "{}", Md5OfBody: "x",
		EventSource: "aws:sqs", EventSourceARN: "arn", AWSRegion: "eu-central-1",
		Attributes: map[string]string{"ApproximateReceiveCount": "3"},
		MessageAttributes: map[string]events.SQSMessageAttribute{"version": {
			StringValue: &version, DataType: "String", StringListValues: []string{}, BinaryListValues: [][]byte{},
		}},
	}}
	for answer, failed := range map[string][]string{
		`{"batchItemFailures":[]}`: nil, // never null
		`{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}`: {"a", "b"},
	} {
		h := Handler(func(_ context.Context, records []events.SQSMessage) []string {
			if diff := cmp.Diff(want, records); diff != "" {
				t.Errorf("records (-want +got)\n%s", diff)
			}
			return failed
		})
		if got, err := h.Invoke(t.Context(), []byte(payload)); err != nil || string(got) != answer {
			t.Errorf("%s, %v, want %s", got, err, answer)
		}
	}
}

func TestHandler_Invoke_refusesHalfAnEvent(t *testing.T) {
	if _, err := Handler(nil).Invoke(t.Context(), []byte(`{"Records":`)); err == nil {
		t.Error("half an event is processed")
	}
}
