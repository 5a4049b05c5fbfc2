package mapping

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

// The form is that of the events in AWS's guide "Using Lambda with Amazon SQS".
func TestConfig_event_isThatOfLambda(t *testing.T) {
	t.Parallel()
	c := Config{QueueARN: "arn:aws:sqs:us-east-1:123456789012:work", Region: "us-east-1"}
	got, err := c.event([]types.Message{{
		MessageId: aws.String("id-1"), ReceiptHandle: aws.String("handle"), Body: aws.String("<a & b>"),
		MD5OfBody: aws.String("md5"), MD5OfMessageAttributes: aws.String("md5 of attributes"),
		Attributes: map[string]string{"ApproximateReceiveCount": "1"},
		MessageAttributes: map[string]types.MessageAttributeValue{
			"bytes": {DataType: aws.String("Binary"), BinaryValue: []byte{0xff, 0}},
			"kind":  {DataType: aws.String("String"), StringValue: aws.String("test")},
		},
	}, {MessageId: aws.String("id-2")}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Records":[` +
		`{"messageId":"id-1","receiptHandle":"handle","body":"<a & b>","attributes":{"ApproximateReceiveCount":"1"},` +
		`"messageAttributes":{` +
		`"bytes":{"binaryValue":"/wA=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"},` +
		`"kind":{"stringValue":"test","stringListValues":[],"binaryListValues":[],"dataType":"String"}},` +
		`"md5OfMessageAttributes":"md5 of attributes","md5OfBody":"md5","eventSource":"aws:sqs",` +
		`"eventSourceARN":"arn:aws:sqs:us-east-1:123456789012:work","awsRegion":"us-east-1"},` +
		`{"messageId":"id-2","receiptHandle":"","body":"","attributes":null,"messageAttributes":{},` +
		`"md5OfBody":"","eventSource":"aws:sqs",` +
		`"eventSourceARN":"arn:aws:sqs:us-east-1:123456789012:work","awsRegion":"us-east-1"}` +
		"]}"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}
