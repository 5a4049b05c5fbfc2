//go:build emulator

package replay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/queue"
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
			DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1", EventType: "user.deleted",
			Status: vault.Dead, Reason: delivery.ReasonHTTP5xx, Attempts: 10, LastStatus: 503, CreatedAt: w.created,
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

var errCrash = errors.New("killed")

// crashing stops answering from one step of a replay on, as a killed process would.
type crashing struct {
	*dynamo.DeadLetters
	states replay.States
	queue  replay.Sender
	step   string
	dead   bool
}

// broken is the function that crashes.
func (w *world) broken(step string) function {
	h := *w.replay
	c := &crashing{DeadLetters: w.letters, states: w.states, queue: h.Deliveries, step: step}
	h.DeadLetters, h.States, h.Deliveries = c, c, c
	return h.Function()
}

func (c *crashing) Update(ctx context.Context, r delivery.Record) (bool, error) {
	if c.dead = c.dead || c.step == "state"; c.dead {
		return false, errCrash
	}
	return c.states.Update(ctx, r)
}

func (c *crashing) Purged(context.Context, delivery.Record) error { return errCrash }

func (c *crashing) Send(ctx context.Context, messages []queue.Outgoing) []error {
	if c.dead = c.dead || c.step == "send"; !c.dead {
		return c.queue.Send(ctx, messages)
	}
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = errCrash
	}
	return errs
}

func (c *crashing) EndReplay(
	ctx context.Context, id string, replay int, status vault.Status, now time.Time,
) error {
	if c.dead = c.dead || c.step == "end"; c.dead {
		return errCrash
	}
	return c.DeadLetters.EndReplay(ctx, id, replay, status, now)
}

func TestHandler_deliveries_sendsAReplayThatIsUnderWayOnceOnly(t *testing.T) {
	w := newWorld(t)
	w.die(t, "event_1", 0)
	w.outcome(t, w.broken("end"))
	w.sent(t)
	if _, err := w.states.Update(t.Context(), delivery.Record{
		Ref: w.message("event_1", 1).Ref, State: delivery.Retrying, Attempts: 1, UpdatedAt: w.clock(),
	}); err != nil {
		t.Fatal(err)
	}
	w.pass(vault.StaleClaim)
	w.wantOutcome(t, "replayed resumed", nil, vault.Replayed)
}

// The next replay is the second, although the first was no life.
func TestHandler_deliveries_leavesDeadWhatItCouldNotSend(t *testing.T) {
	w := newWorld(t)
	w.die(t, "event_1", 0)
	healthy := w.replay.Deliveries
	w.replay.Deliveries = &crashing{step: "send"}
	w.wantOutcome(t, "failed not_sent", nil, vault.Dead)
	got := ask[inspect.Delivery](t, w.inspect.Function(), "delivery", `"delivery_id":"`+idOf("event_1")+`"`)
	if got.State != delivery.Dead || got.Reason != delivery.ReasonReplayFault {
		t.Errorf("the delivery is %s for %s, want dead for %s", got.State, got.Reason, delivery.ReasonReplayFault)
	}
	w.replay.Deliveries = healthy
	w.wantOutcome(t, "replayed", []delivery.Message{w.message("event_1", 2)}, vault.Replayed)
	w.die(t, "event_1", 2)
	w.wantOutcome(t, "replayed", []delivery.Message{w.message("event_1", 3)}, vault.Replayed)
}
