//go:build emulator

package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

func message(i int) delivery.Message {
	body, event := []byte(`{"type":"user.created","data":{"userId":"user_1", "é":"\u00e9"}}`), fmt.Sprint("evt_", i)
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: delivery.ID("t", event, "webhook_1", delivery.ContentOf(body)),
			TenantID:   "t", EndpointID: "webhook_1", EventID: event, CreatedAt: time.Now().UTC(),
		},
		Body: body}
}

func TestDecode_readsADeliveryThatCrossedSQS(t *testing.T) {
	cfg := testkit.Moto(t)
	q := testkit.NewQueue(t, cfg, "RetryQueue")
	want := message(1)
	want.Attempts, want.Replay = 1, 3
	want.Life = delivery.Life{StartedAt: time.UnixMilli(1_700_000_000_000).UTC(), Reason: delivery.ReasonTimeout}
	sender := queue.Sender{Client: sqs.NewFromConfig(cfg), URL: q.URL}
	if err := sender.Send(t.Context(), []queue.Outgoing{queue.Of(want, 0)})[0]; err != nil {
		t.Fatal(err)
	}
	received := testkit.Receive(t, cfg, q, 2*time.Second)
	if len(received) != 1 {
		t.Fatalf("received %d messages", len(received))
	}
	got, err := queue.Decode(sqsevent.Of(received[0], q.ARN))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if r := queue.ReceiveOf(sqsevent.Of(received[0], q.ARN)); r.Count != 1 || time.Since(r.SentAt) > time.Minute {
		t.Errorf("%+v", r)
	}
	if group := received[0].Attributes["MessageGroupId"]; group != want.TenantID {
		t.Errorf("group %q", group)
	}
}

func TestSender_Send_tellsWhichMessagesABatchLost(t *testing.T) {
	cfg := testkit.Moto(t)
	q := testkit.NewQueue(t, cfg, "DeliveryQueue")
	faults := testkit.NewFaults(t, cfg)
	faults.On("SendMessageBatch", 1, testkit.FailEntries("InternalError", 2, 5))
	var messages []queue.Outgoing
	for i := range 12 {
		messages = append(messages, queue.Of(message(i), 0))
	}
	errs := queue.Sender{Client: sqs.NewFromConfig(faults.Config()), URL: q.URL}.Send(t.Context(), messages)
	for i, err := range errs {
		if (err != nil) != (i == 2 || i == 5) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	var ids []string
	for len(ids) < 10 {
		page := testkit.Receive(t, cfg, q, 2*time.Second)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			ids = append(ids, *m.MessageAttributes["delivery_id"].StringValue)
		}
	}
	if slices.Sort(ids); len(ids) != 10 || slices.Contains(ids, "msg_2") || slices.Contains(ids, "msg_5") {
		t.Errorf("on the queue: %v", ids)
	}
}

func TestVisibility_ChangeVisibility_reportsWhatItCouldNotSet(t *testing.T) {
	cfg := testkit.Moto(t)
	client := sqs.NewFromConfig(cfg)
	q := testkit.NewQueue(t, cfg, "RetryQueue")
	sender := queue.Sender{Client: client, URL: q.URL}
	for _, err := range sender.Send(t.Context(), []queue.Outgoing{queue.Of(message(0), 0), queue.Of(message(1), 0)}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var received []types.Message
	for len(received) < 2 {
		received = append(received, testkit.Receive(t, cfg, q, 2*time.Second)...)
	}
	errs := queue.Visibility{Client: client, URL: q.URL}.ChangeVisibility(t.Context(), []queue.VisibilityChange{
		{ReceiptHandle: *received[0].ReceiptHandle, Wait: 0}, {ReceiptHandle: *received[1].ReceiptHandle, Wait: time.Hour},
	})
	if errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	again := testkit.Receive(t, cfg, q, 2*time.Second)
	if len(again) != 1 {
		t.Fatalf("visible again: %+v", again)
	}
	r := sqsevent.Of(again[0], q.ARN)
	if r.MessageId != *received[0].MessageId || queue.ReceiveOf(r).Count != 2 {
		t.Errorf("visible again: %+v", r)
	}

	faults := testkit.NewFaults(t, cfg)
	faults.On("ChangeMessageVisibilityBatch", 1, testkit.FailEntries("InternalError", 0))
	faults.On("ChangeMessageVisibilityBatch", 1, testkit.FailEntries("InternalError"))
	faulty := queue.Visibility{Client: sqs.NewFromConfig(faults.Config()), URL: q.URL}
	errs = faulty.ChangeVisibility(t.Context(), []queue.VisibilityChange{
		{ReceiptHandle: *again[0].ReceiptHandle, Wait: time.Second}, {
			ReceiptHandle: *received[1].ReceiptHandle, Wait: time.Second,
		},
	})
	if errs[0] == nil || errs[1] != nil {
		t.Errorf("partial failure: %v", errs)
	}
}

func TestSender_Send_sendsTheLargestEvent(t *testing.T) {
	cfg := testkit.Moto(t)
	q := testkit.NewQueue(t, cfg, "DeliveryQueue")
	m := message(0)
	m.Body = slices.Concat(
		[]byte(`{"type":"user.created","data":{"x":"`), slices.Repeat([]byte("x"), 256<<10-60), []byte(`"}}`),
	)
	sender := queue.Sender{Client: sqs.NewFromConfig(cfg), URL: q.URL}
	if err := sender.Send(t.Context(), []queue.Outgoing{queue.Of(m, 0)})[0]; err != nil {
		t.Error(err)
	}
}
