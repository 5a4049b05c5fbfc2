//go:build emulator

package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
)

// wantOutcome replays the delivery of event_1 and compares the answer, what it sent and the status it left.
func (w *world) wantOutcome(t *testing.T, want string, sent []delivery.Message, status vault.Status) {
	t.Helper()
	begun := w.clock()
	if got := w.outcome(t, w.replay.Function()); got != want {
		t.Errorf("answered %q, want %q\n%s", got, want, &w.log)
	}
	messages := w.sent(t)
	for i := range messages { // the last life says nothing about the next
		if messages[i].Life.StartedAt.Before(begun) {
			t.Errorf("the life began at %s, the replay at %s", messages[i].Life.StartedAt, begun)
		}
		messages[i].Life.StartedAt = time.Time{}
	}
	if diff := cmp.Diff(sent, messages); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if got := w.status(t); got != status {
		t.Errorf("it is %s, want %s", got, status)
	}
}

func TestHandler_deliveries_replaysADeliveryInEachOfItsLives(t *testing.T) {
	w := newWorld(t)
	w.die(t, "event_1", 0)
	w.die(t, "event_1", 0)
	id := idOf("event_1")
	letter := inspect.OpenedDeadLetter{
		DeadLetter: inspect.DeadLetter{
			DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", Host: "example.com",
			EventID: "event_1", EventType: "user.deleted", Status: vault.Dead, Reason: delivery.ReasonHTTP5xx,
			Attempts: 10, LastStatus: 503, CreatedAt: w.created,
		},
		Body:    payload,
		Headers: map[string]string{"content-type": "application/json", "wh-id": id, "wh-webhook-event": "user.deleted"},
	}
	for life := 1; life <= 2; life++ {
		letter.ReplayCount = life - 1
		letter.History = append(letter.History, vault.Entry{
			Reason: delivery.ReasonHTTP5xx, Attempts: 10, LastStatus: 503, Replay: life - 1,
			MessageID: fmt.Sprint("sqs-event_1", life-1),
		})
		opened := ask[inspect.OpenedDeadLetter](t, w.inspect.Function(), "dead_letter", `"delivery_id":"`+id+`"`)
		diedAt := cmp.Options{
			cmpopts.IgnoreFields(inspect.DeadLetter{}, "DiedAt"), cmpopts.IgnoreFields(vault.Entry{}, "DiedAt"),
		}
		if diff := cmp.Diff(letter, opened, diedAt); diff != "" {
			t.Errorf("life %d: dead letter (-want +got):\n%s", life, diff)
		}
		w.wantOutcome(t, "replayed", []delivery.Message{w.message("event_1", life)}, vault.Replayed)
		shown := ask[inspect.Delivery](t, w.inspect.Function(), "delivery", `"delivery_id":"`+id+`","tenant_id":"acme"`)
		want := inspect.Delivery{
			DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1", EventType: "user.deleted",
			State: delivery.Queued, Replay: life, LastStatus: 503, Reason: delivery.ReasonReplayed, CreatedAt: w.created,
		}
		if diff := cmp.Diff(want, shown, cmpopts.IgnoreFields(want, "UpdatedAt")); diff != "" {
			t.Errorf("life %d: delivery (-want +got):\n%s", life, diff)
		}
		w.wantOutcome(t, "refused already_replayed", nil, vault.Replayed)
		w.die(t, "event_1", life)
	}
	acknowledged := delivery.Record{Ref: w.message("event_1", 2).Ref, UpdatedAt: w.clock()}
	if err := w.states.Acknowledge(t.Context(), []delivery.Record{acknowledged}); err != nil {
		t.Fatal(err)
	}
	w.wantOutcome(t, "refused already_acknowledged", nil, vault.Replayed)
	if strings.Contains(w.log.String(), "user_1") {
		t.Error("a body is in the log")
	}
}
