package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var created = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

func full() delivery.Message {
	body := []byte(`{"type":"user.deleted","data":{ "a":1}}`)
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: delivery.ID("t", "evt 1", "webhook_1", delivery.ContentOf(body)),
			TenantID:   "t", EndpointID: "webhook_1", EventID: "evt 1",
			CreatedAt: created, OccurredAt: created.Add(-time.Hour - time.Nanosecond), Replay: 2,
		},
		Attempts: 1, Body: body,
		Life: delivery.Life{
			StartedAt: created, DueAt: created.Add(time.Minute), Probe: created.Add(time.Second),
			Reason: delivery.ReasonHTTP5xx, Status: 503,
		}}
}

// received is the sent message as Lambda delivers it.
func received(m delivery.Message) events.SQSMessage {
	return events.SQSMessage{Body: string(m.Body), MessageAttributes: sqsevent.Attributes(Attributes(m))}
}

func TestDecode_readsWhatAttributesWrote(t *testing.T) {
	first := full()
	first.Attempts, first.Life, first.Replay, first.OccurredAt = 0, delivery.Life{}, 0, time.Time{}
	for n, m := range map[int]delivery.Message{10: full(), 7: first} {
		got, err := Decode(received(m))
		if diff := cmp.Diff(m, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		if got := len(Attributes(m)); got != n {
			t.Errorf("%d attributes, want %d: SQS takes ten", got, n)
		}
	}
}

func TestDecode_saysWhyAMessageIsUnreadable(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(*events.SQSMessage)
		names string
	}{
		"a version of the future": {func(r *events.SQSMessage) { set(r, attrVersion, "2") }, "version"},
		"no attributes at all":    {func(r *events.SQSMessage) { r.MessageAttributes = nil }, "version"},
		"no delivery id": {func(r *events.SQSMessage) {
			delete(r.MessageAttributes, attrDelivery)
		}, "delivery_id"},
		"bytes as tenant": {func(r *events.SQSMessage) {
			r.MessageAttributes[attrTenant] = events.SQSMessageAttribute{BinaryValue: []byte("t"), DataType: "Binary"}
		}, "tenant_id"},
		"an empty tenant":        {func(r *events.SQSMessage) { set(r, attrTenant, "") }, "tenant_id"},
		"a negative replay":      {func(r *events.SQSMessage) { set(r, attrReplay, "-1") }, "replay"},
		"attempts in words":      {func(r *events.SQSMessage) { set(r, attrAttempts, "one") }, "attempts"},
		"a time that is none":    {func(r *events.SQSMessage) { set(r, attrCreated, "soon") }, "created_at"},
		"another tenant's id":    {func(r *events.SQSMessage) { set(r, attrTenant, "u") }, "delivery id"},
		"an event of no time":    {func(r *events.SQSMessage) { set(r, attrOccurred, "") }, "occurred_at"},
		"a life of the future":   {func(r *events.SQSMessage) { set(r, attrLife, "v2,started=1") }, "life"},
		"an empty life":          {func(r *events.SQSMessage) { set(r, attrLife, "") }, "life"},
		"a body of another form": {func(r *events.SQSMessage) { r.Body = `{"data":{}}` }, "delivery id"},
	} {
		t.Run(name, func(t *testing.T) {
			r := received(full())
			row.spoil(&r)
			_, err := Decode(r)
			if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), row.names) {
				t.Errorf("%v, want ErrUnreadable that names %s", err, row.names)
			}
		})
	}
}

// Any message has a delivery that is written as it was read, or none and an error that says so.
func FuzzDecode(f *testing.F) {
	m := full()
	f.Add(m.DeliveryID, m.TenantID, created.Format(time.RFC3339Nano), "2", "2", m.Life.Encode(), m.Body)
	f.Add("", "t", "soon", "-1", "x", "v2,started=1", []byte("null"))
	f.Fuzz(func(t *testing.T, id, tenant, at, replay, attempts, life string, body []byte) {
		r := received(full())
		r.Body = string(body)
		for name, value := range map[string]string{
			attrDelivery: id, attrTenant: tenant, attrCreated: at, attrReplay: replay, attrAttempts: attempts, attrLife: life,
		} {
			set(&r, name, value)
		}
		first, err := Decode(r)
		if err != nil {
			if diff := cmp.Diff(delivery.Message{}, first); !errors.Is(err, ErrUnreadable) || diff != "" {
				t.Fatalf("%v (-want +got)\n%s", err, diff)
			}
			return
		}
		again, err := Decode(received(first))
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("%v (-first +again)\n%s", err, diff)
		}
		if n := len(Attributes(first)); n > 10 {
			t.Errorf("%d attributes, and SQS takes ten", n)
		}
	})
}

func set(r *events.SQSMessage, name, value string) {
	*r = sqsevent.With(*r, name, value)
}

// fakeSQS keeps the calls, and answers them as told: by body or by receipt handle.
type fakeSQS struct {
	calls [][]string
	waits map[string]int32    // of changes that were done
	fails map[string]int      // how often
	mute  map[string]bool     // left out of the answer
	down  func(call int) bool // whole calls, from 0
	sent  []types.SendMessageBatchRequestEntry
}

func (f *fakeSQS) answer(ids []*string, names []string) (
	done []*string, failed []types.BatchResultErrorEntry, err error,
) {
	f.calls = append(f.calls, names)
	if f.down != nil && f.down(len(f.calls)-1) {
		return nil, nil, errors.New("down")
	}
	for i, name := range names {
		switch {
		case f.mute[name]:
		case f.fails[name] > 0:
			f.fails[name]--
			failed = append(failed, types.BatchResultErrorEntry{Id: ids[i], Code: aws.String("Refused-" + name)})
		default:
			done = append(done, ids[i])
		}
	}
	slices.Reverse(done) // SQS promises no order
	return done, failed, nil
}

func (f *fakeSQS) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (
	*sqs.SendMessageBatchOutput, error,
) {
	f.sent = append(f.sent, in.Entries...)
	var ids []*string
	var bodies []string
	for _, e := range in.Entries {
		ids, bodies = append(ids, e.Id), append(bodies, aws.ToString(e.MessageBody))
	}
	done, failed, err := f.answer(ids, bodies)
	out := &sqs.SendMessageBatchOutput{Failed: failed}
	for _, id := range done {
		out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: id})
	}
	return out, err
}

func (f *fakeSQS) ChangeMessageVisibilityBatch(
	_ context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	var ids []*string
	var handles []string
	for _, e := range in.Entries {
		ids, handles = append(ids, e.Id), append(handles, aws.ToString(e.ReceiptHandle))
	}
	done, failed, err := f.answer(ids, handles)
	out := &sqs.ChangeMessageVisibilityBatchOutput{Failed: failed}
	for _, e := range in.Entries {
		if slices.Contains(done, e.Id) {
			f.waits[aws.ToString(e.ReceiptHandle)] = e.VisibilityTimeout
			out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: e.Id})
		}
	}
	return out, err
}

func (f *fakeSQS) sizes() (sizes []int) {
	for _, call := range f.calls {
		sizes = append(sizes, len(call))
	}
	return sizes
}

func TestSender_Send_cutsAtTenAndAtOneMebibyte(t *testing.T) {
	const attributes = len("name") + len("String") + len("value") // SQS counts all three
	fourth := 1<<18 - attributes                                  // of a call, exactly
	for name, row := range map[string]struct {
		sizes []int
		want  []int
	}{
		"nothing makes no call":                {nil, nil},
		"ten in one call":                      {slices.Repeat([]int{10}, 10), []int{10}},
		"eleven in two":                        {slices.Repeat([]int{10}, 11), []int{10, 1}},
		"twenty-five in three":                 {slices.Repeat([]int{10}, 25), []int{10, 10, 5}},
		"large ones four to a call":            {slices.Repeat([]int{fourth}, 9), []int{4, 4, 1}},
		"a byte more and they are three":       {[]int{fourth, fourth, fourth, fourth + 1, fourth}, []int{3, 2}},
		"one that fills a call only":           {slices.Repeat([]int{1<<20 - attributes}, 2), []int{1, 1}},
		"one too large goes alone, to be told": {[]int{10, 1 << 20, 10}, []int{1, 1, 1}},
		"a large one among small ones":         {[]int{10, 1<<20 - attributes, 10, 10}, []int{1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeSQS{}
			messages := make([]Outgoing, len(row.sizes))
			for i, size := range row.sizes {
				messages[i] = Outgoing{
					Body: strings.Repeat("x", size), Attributes: map[string]types.MessageAttributeValue{"name": text("value")},
				}
			}
			for _, err := range (Sender{Client: f}).Send(t.Context(), messages) {
				if err != nil {
					t.Error(err)
				}
			}
			if got := f.sizes(); !slices.Equal(got, row.want) {
				t.Errorf("calls of %v, want %v", got, row.want)
			}
		})
	}
}

func TestSender_Send_tellsTheErrorOfEachMessageAcrossCalls(t *testing.T) {
	messages, want := make([]Outgoing, 25), map[int]string{24: "does not name"}
	for i := range messages {
		messages[i].Body = fmt.Sprintf("b%02d", i)
	}
	f := &fakeSQS{fails: map[string]int{}, mute: map[string]bool{messages[24].Body: true}}
	for _, i := range []int{3, 9, 10, 18} {
		f.fails[messages[i].Body], want[i] = 1, "Refused-"+messages[i].Body
	}
	errs := Sender{Client: f}.Send(t.Context(), messages)
	if got := f.sizes(); !slices.Equal(got, []int{10, 10, 5}) {
		t.Errorf("calls of %v", got) // a lost send is the caller's to repeat
	}
	for i, err := range errs {
		if (err != nil) != (want[i] != "") || err != nil && !strings.Contains(err.Error(), want[i]) {
			t.Errorf("message %d: %v, want %q", i, err, want[i])
		}
	}
	f.down = func(int) bool { return true }
	if err := (Sender{Client: f}).Send(t.Context(), messages[:1])[0]; err == nil {
		t.Error("a failed call counts as sent")
	}
}

func TestSender_Send_namesGroupAndDelay(t *testing.T) {
	f := &fakeSQS{}
	Sender{Client: f}.Send(t.Context(), []Outgoing{{Group: "t", Delay: 2500 * time.Millisecond}, {}})
	type sent struct {
		group *string
		delay int32
	}
	got := []sent{{f.sent[0].MessageGroupId, f.sent[0].DelaySeconds}, {f.sent[1].MessageGroupId, f.sent[1].DelaySeconds}}
	if diff := cmp.Diff([]sent{{aws.String("t"), 3}, {nil, 0}}, got, cmp.AllowUnexported(sent{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSeconds_roundsUp(t *testing.T) {
	for d, want := range map[time.Duration]int32{
		0: 0, -time.Second: 0, time.Millisecond: 1, time.Second: 1, 1001 * time.Millisecond: 2, 43_000 * time.Second: 43_000,
	} {
		if got := seconds(d); got != want {
			t.Errorf("%s is %d s, want %d", d, got, want)
		}
	}
}

// A dead letter with a reason was sent by us; SQS moves messages from RetryQueue as they are.
func TestToRetry_givesNoReason(t *testing.T) {
	sent := full()
	m := sent
	alive, dead := ToRetry(m, 3*time.Second), Of(m, 0)
	sent.Life.Reason, sent.Life.Status = "", 0
	want := []Outgoing{
		{Body: string(m.Body), Group: "t", Attributes: Attributes(sent), Delay: 3 * time.Second},
		{Body: string(m.Body), Group: "t", Attributes: Attributes(full())},
	}
	opaque := cmpopts.IgnoreUnexported(types.MessageAttributeValue{})
	if diff := cmp.Diff(want, []Outgoing{alive, dead}, opaque); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestReceiveOf(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123).UTC()
	r := events.SQSMessage{Attributes: sqsevent.System(at, 4)}
	want := Receive{Count: 4, SentAt: at}
	if diff := cmp.Diff(want, ReceiveOf(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(Receive{Count: 1}, ReceiveOf(events.SQSMessage{})); diff != "" {
		t.Errorf("without attributes (-want +got)\n%s", diff)
	}
}
