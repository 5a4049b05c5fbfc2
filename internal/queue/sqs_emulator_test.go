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

func TestVisibility_ChangeVisibility_showsOrHidesAMessage(t *testing.T) {
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
