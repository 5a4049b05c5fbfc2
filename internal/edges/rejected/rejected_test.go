package rejected

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var errAWS = errors.New("AccessDenied")

// fakeSQS hands out the messages it holds and remembers the requests.
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
	ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if err := errors.Join(f.err, ctx.Err()); err != nil {
		return nil, err
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

// SQS moves a message with its attributes, and a publisher may have used the names that fanout uses.
func TestQueue_Receive_readsEventsWithTheirReasons(t *testing.T) {
	const arn = "arn:aws:sqs:eu-central-1:123456789012:events"
	const valid = `"tenant_id":"acme","type":"user.deleted","data":{}}`
	attributes := map[string]types.MessageAttributeValue{"event_id": attribute("evt_1"), "reason": attribute("no tenant")}
	published := maps.Clone(attributes)
	published["message_id"] = attribute("published")
	sent := time.Date(2023, 11, 14, 22, 13, 20, 123_000_000, time.UTC)
	for name, row := range map[string]struct {
		body       string
		system     map[string]string
		attributes map[string]types.MessageAttributeValue
		want       Event
	}{
		"kept by fanout": {"{", map[string]string{"SentTimestamp": "1700000000123"}, published,
			Event{MessageID: "published", EventID: "evt_1", Reason: "no tenant", SentAt: sent}},
		"kept under its own message id": {"[", nil, attributes,
			Event{MessageID: "m1", EventID: "evt_1", Reason: "no tenant"}},
		"moved by SQS with attributes": {"{}", map[string]string{"DeadLetterQueueSourceArn": arn}, published,
			moved("m1")},
		"sent at no time":         {"{}", map[string]string{"SentTimestamp": "soon"}, nil, moved("m1")},
		"with an id":              {`{"id":"evt_1",` + valid, nil, nil, moved("evt_1")},
		"without an id":           {"{" + valid, nil, nil, moved("m1")},
		"with an id of no string": {`{"id":7,` + valid, nil, nil, moved("m1")},
		"with an id, but invalid": {`{"id":"evt_1","type":"unknown"}`, nil, nil, moved("evt_1")},
		"no JSON":                 {"{", nil, nil, moved("m1")},
	} {
		client := &fakeSQS{messages: []types.Message{{
			MessageId: aws.String("m1"), Body: aws.String(row.body), ReceiptHandle: aws.String("r1"),
			Attributes: row.system, MessageAttributes: row.attributes,
		}}}
		row.want.Body, row.want.receipt = row.body, "r1"
		got, err := Queue{Client: client, URL: "queue"}.Receive(t.Context(), 3, Briefly)
		if diff := cmp.Diff([]Event{row.want}, got, cmp.AllowUnexported(Event{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// moved is an event without fanout's attributes.
func moved(id string) Event { return Event{MessageID: "m1", EventID: id, Reason: "not_processed"} }

func TestMessage_isReceivedAsTheEventThatItKeeps(t *testing.T) {
	long := strings.Repeat("x", 512)
	for _, row := range []struct{ reason, want string }{{"no tenant", "no tenant"}, {long, long}, {long + "y", long}} {
		e := Event{MessageID: "published", EventID: "evt_1", Reason: row.reason, Body: "{"}
		sent := Message(e)
		client := &fakeSQS{messages: []types.Message{{
			MessageId: aws.String("m1"), Body: aws.String(sent.Body), MessageAttributes: sent.Attributes,
		}}}
		got, err := Queue{Client: client}.Receive(t.Context(), 1, Briefly)
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

// Both events that fanout refused and those that SQS moved keep the trace, also where a later publish sends them.
func TestQueue_Receive_readsTheTraceOfEitherKindOfEvent(t *testing.T) {
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	want := trace.ParseTraceparent(traceparent)
	sent := Message(Event{MessageID: "m", EventID: "e", Reason: "no tenant", Body: "{", Trace: want})
	if sent.Trace != want || len(sent.Attributes) != 3 {
		t.Errorf("sent with %+v and %d attributes", sent.Trace, len(sent.Attributes))
	}
	for name, m := range map[string]types.Message{
		"refused": {MessageAttributes: sent.Attributes, Attributes: sqsevent.Traced(sent.Trace)},
		"moved": {
			Attributes:        map[string]string{"DeadLetterQueueSourceArn": "EventsQueue"},
			MessageAttributes: map[string]types.MessageAttributeValue{"traceparent": attribute(traceparent)},
		},
		"moved, of X-Ray": {
			Attributes: map[string]string{"DeadLetterQueueSourceArn": "EventsQueue", "AWSTraceHeader": want.XRay()},
		},
	} {
		m.Body = aws.String("{")
		got, err := Queue{Client: &fakeSQS{messages: []types.Message{m}}}.Receive(t.Context(), 1, Briefly)
		if err != nil || len(got) != 1 || got[0].Trace != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestQueue_Receive_hidesForTheGivenTimeAndAsksAllServers(t *testing.T) {
	for most, want := range map[int]struct {
		hidden          time.Duration
		number, seconds int32
	}{1: {29*time.Second + 1, 1, 30}, 3: {Briefly, 3, 60}, 10: {Briefly, 10, 60}, 100: {job.HideFor, 10, 900}} {
		client := &fakeSQS{}
		if _, err := (Queue{Client: client, URL: "queue"}).Receive(t.Context(), most, want.hidden); err != nil {
			t.Fatal(err)
		}
		asked := &sqs.ReceiveMessageInput{
			QueueUrl: aws.String("queue"), MaxNumberOfMessages: want.number, VisibilityTimeout: want.seconds,
			WaitTimeSeconds:       1,
			MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{
				"SentTimestamp", "DeadLetterQueueSourceArn", "AWSTraceHeader",
			},
		}
		if diff := cmp.Diff(asked, client.received, cmpopts.IgnoreUnexported(sqs.ReceiveMessageInput{})); diff != "" {
			t.Errorf("asked for %d (-want +got):\n%s", most, diff)
		}
	}
}

func TestQueue_Restore_showsEventsAtOnceThoughTheRequestHasEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	client := &fakeSQS{shown: map[string]int32{}}
	q := Queue{Client: client, URL: "url"}
	if err := q.Restore(ctx, []Event{{receipt: "r1"}, {receipt: "r2"}}); err != nil {
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

func TestEvent_Selected_byTenantReasonAndTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	s := job.Selector{TenantID: "acme", Reason: "type", Since: at, Until: at.Add(time.Hour)}
	for name, row := range map[string]struct {
		tenant, reason string
		at             time.Time
		want           bool
	}{
		"selected":         {"acme", "invalid event: type: unknown", at, true},
		"another tenant's": {"other", "invalid event: type: unknown", at, false},
		"another reason":   {"acme", "not_processed", at, false},
		"earlier":          {"acme", "type", at.Add(-1), false},
		"later":            {"acme", "type", at.Add(time.Hour), false},
	} {
		e := Event{Body: `{"tenant_id":"` + row.tenant + `"}`, Reason: row.reason, SentAt: row.at}
		if got := e.Selected(s); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !(Event{}).Selected(job.Selector{}) {
		t.Error("without a selection, not everything is selected")
	}
}

func TestQueue_passesErrorsOn(t *testing.T) {
	q := Queue{Client: &fakeSQS{err: errAWS}}
	_, receiveErr := q.Receive(t.Context(), 1, Briefly)
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
