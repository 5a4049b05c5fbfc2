//go:build emulator

package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
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
