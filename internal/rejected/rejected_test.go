package rejected

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var errAWS = errors.New("AccessDenied")

// fakeSQS hands out the messages it holds and remembers what it was asked for.
type fakeSQS struct {
	messages []types.Message
	err      error

	received *sqs.ReceiveMessageInput
	shown    map[string]int32 // visibility timeouts, by receipt handle
	deleted  []string         // receipt handles
}

func (f *fakeSQS) ReceiveMessage(
	_ context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options),
) (*sqs.ReceiveMessageOutput, error) {
	f.received = in
	return &sqs.ReceiveMessageOutput{Messages: f.messages}, f.err
}

func (f *fakeSQS) DeleteMessage(
	_ context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options),
) (*sqs.DeleteMessageOutput, error) {
	f.deleted = append(f.deleted, aws.ToString(in.QueueUrl)+" "+aws.ToString(in.ReceiptHandle))
	return &sqs.DeleteMessageOutput{}, f.err
}

func (f *fakeSQS) ChangeMessageVisibilityBatch(
	_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if f.err != nil {
		return nil, f.err
	}
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	for _, e := range in.Entries {
		f.shown[aws.ToString(in.QueueUrl)+" "+aws.ToString(e.ReceiptHandle)] = e.VisibilityTimeout
		out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: e.Id})
	}
	return out, nil
}

func attribute(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
}

func TestQueue_Receive_readsEventsWithTheirReasons(t *testing.T) {
	client := &fakeSQS{messages: []types.Message{{
		MessageId: aws.String("m1"), Body: aws.String("{"), ReceiptHandle: aws.String("r1"),
		Attributes: map[string]string{"SentTimestamp": "1700000000123"},
		MessageAttributes: map[string]types.MessageAttributeValue{
			"event_id": attribute("evt_1"), "reason": attribute("no tenant"), "message_id": attribute("published"),
		},
	}, {
		MessageId: aws.String("m3"), Body: aws.String("["), ReceiptHandle: aws.String("r3"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"event_id": attribute("evt_3"), "reason": attribute("no JSON"),
		},
	}, {
		MessageId: aws.String("m2"), Body: aws.String("{}"), ReceiptHandle: aws.String("r2"), // redriven by SQS
		Attributes: map[string]string{"SentTimestamp": "soon"},
	}}}
	got, err := Queue{Client: client, URL: "queue"}.Receive(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{
			MessageID: "published", EventID: "evt_1", Reason: "no tenant", Body: "{", receipt: "r1",
			SentAt: time.Date(2023, 11, 14, 22, 13, 20, 123_000_000, time.UTC),
		},
		{MessageID: "m3", EventID: "evt_3", Reason: "no JSON", Body: "[", receipt: "r3"},
		{MessageID: "m2", EventID: "m2", Reason: "not_processed", Body: "{}", receipt: "r2"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Event{})); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestQueue_Receive_readsTheIDOfAnEventThatSQSMoved(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`: "evt_1",
		`{"tenant_id":"acme","type":"user.deleted","data":{}}`:              "m1",
		`{"id":"evt_1","type":"unknown"}`:                                   "evt_1",
		`{"id":7,"tenant_id":"acme","type":"user.deleted","data":{}}`:       "m1",
		`{`: "m1",
	} {
		client := &fakeSQS{messages: []types.Message{{MessageId: aws.String("m1"), Body: aws.String(body)}}}
		got, err := Queue{Client: client}.Receive(t.Context(), 1)
		if err != nil || got[0].EventID != want || got[0].Reason != "not_processed" {
			t.Errorf("%s: %+v, %v; want %s", body, got, err, want)
		}
	}
}

// SQS moves a message with its attributes, and a publisher may have used the names that fanout uses.
func TestQueue_Receive_leavesPublishersTheirAttributes(t *testing.T) {
	client := &fakeSQS{messages: []types.Message{{
		MessageId: aws.String("m1"), Body: aws.String("{}"), ReceiptHandle: aws.String("r1"),
		Attributes: map[string]string{"DeadLetterQueueSourceArn": "arn:aws:sqs:eu-central-1:123456789012:events"},
		MessageAttributes: map[string]types.MessageAttributeValue{
			"event_id": attribute("theirs"), "reason": attribute("churn"), "message_id": attribute("an e-mail's"),
		},
	}}}
	got, err := Queue{Client: client, URL: "queue"}.Receive(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{{MessageID: "m1", EventID: "m1", Reason: "not_processed", Body: "{}", receipt: "r1"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Event{})); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestMessage_isReceivedAsTheEventThatItKeeps(t *testing.T) {
	long := strings.Repeat("x", 512)
	for _, row := range []struct{ reason, want string }{{"no tenant", "no tenant"}, {long, long}, {long + "y", long}} {
		e := Event{MessageID: "published", EventID: "evt_1", Reason: row.reason, Body: "{"}
		sent := Message(e)
		client := &fakeSQS{messages: []types.Message{{
			MessageId: aws.String("m1"), Body: aws.String(sent.Body), MessageAttributes: sent.Attributes,
		}}}
		got, err := Queue{Client: client}.Receive(t.Context(), 1)
		plain := cmpopts.IgnoreUnexported(types.MessageAttributeValue{})
		if diff := cmp.Diff(attribute(row.want), sent.Attributes["reason"], plain); diff != "" {
			t.Errorf("attribute (-want +got):\n%s", diff)
		}
		e.Reason = row.want
		if diff := cmp.Diff([]Event{e}, got, cmp.AllowUnexported(Event{})); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestQueue_Receive_hidesForAMinuteAndAsksAllServers(t *testing.T) {
	for most, want := range map[int]int32{3: 3, 10: 10, 100: 10} {
		client := &fakeSQS{}
		if _, err := (Queue{Client: client, URL: "queue"}).Receive(t.Context(), most); err != nil {
			t.Fatal(err)
		}
		asked := &sqs.ReceiveMessageInput{
			QueueUrl: aws.String("queue"), MaxNumberOfMessages: want, VisibilityTimeout: 60, WaitTimeSeconds: 1,
			MessageAttributeNames:       []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{"SentTimestamp", "DeadLetterQueueSourceArn"},
		}
		if diff := cmp.Diff(asked, client.received, cmpopts.IgnoreUnexported(sqs.ReceiveMessageInput{})); diff != "" {
			t.Errorf("asked for %d (-want +got):\n%s", most, diff)
		}
	}
}

func TestQueue_Restore_showsEventsAtOnce(t *testing.T) {
	client := &fakeSQS{shown: map[string]int32{}}
	q := Queue{Client: client, URL: "url"}
	if err := q.Restore(t.Context(), []Event{{receipt: "r1"}, {receipt: "r2"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int32{"url r1": 0, "url r2": 0}, client.shown); diff != "" {
		t.Errorf("visibility timeouts (-want +got):\n%s", diff)
	}
}

func TestQueue_Delete_deletesTheOneEvent(t *testing.T) {
	client := &fakeSQS{}
	if err := (Queue{Client: client, URL: "queue"}).Delete(t.Context(), Event{receipt: "r1"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"queue r1"}, client.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestQueue_passesErrorsOn(t *testing.T) {
	q := Queue{Client: &fakeSQS{err: errAWS}}
	_, receiveErr := q.Receive(t.Context(), 1)
	for name, err := range map[string]error{
		"receiving": receiveErr,
		"restoring": q.Restore(t.Context(), []Event{{receipt: "r1"}}),
		"deleting":  q.Delete(t.Context(), Event{receipt: "r1"}),
	} {
		if !errors.Is(err, errAWS) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
