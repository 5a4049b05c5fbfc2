//go:build emulator

package docs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/awscall"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var now = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func ref(id string, replay int) delivery.Ref {
	return delivery.Ref{
		DeliveryID: id, TenantID: "t", EndpointID: "webhook_1", EventID: "e", CreatedAt: now, Replay: replay,
	}
}

// of is a delivery in a state as its writers leave it: the first life uses up the schedule,
// replay 1 is queued before it has attempts.
func of(id, state string, replay int) delivery.Record {
	attempts := map[string]int{
		"queued": 0, "retrying": 1, "waiting": 1, "acknowledged": 1, "discarded": 1, "dead": 2,
	}[state]
	return delivery.Record{
		Ref: ref(id, replay), EventType: "user.created", State: delivery.State(state), Attempts: attempts, UpdatedAt: now,
	}
}

// write writes a state the way its function does and reports whether the store took it.
func write(t *testing.T, store *dynamo.Deliveries, r delivery.Record) bool {
	t.Helper()
	if r.State == delivery.Acknowledged {
		if err := store.Acknowledge(t.Context(), []delivery.Record{r}); err != nil {
			t.Fatal(err)
		}
		return true
	}
	taken, err := store.Update(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// replayed is the life that a written state belongs to when it follows the other one.
func replayed(e edge) int {
	if e.from == "queued" || e.to == "queued" {
		return 1
	}
	return 0
}

func TestTheDeliveryStoreTakesEveryTransitionOfTheDiagram(t *testing.T) {
	cfg := testkit.Moto(t)
	store := dynamo.NewDeliveries(awscall.NewDynamoDB(cfg), testkit.Tables(t, cfg).Deliveries)
	known := map[edge]bool{}
	for i, e := range diagram(t, "Delivery states") {
		if e.to == "[*]" {
			continue
		}
		id := fmt.Sprintf("msg_%d", i)
		if e.from != "[*]" {
			from := of(id, e.from, 0)
			if e.from == "queued" {
				from.Replay = 1
			}
			write(t, store, from)
		}
		if !write(t, store, of(id, e.to, replayed(e))) {
			t.Errorf("the store refuses %s → %s", e.from, e.to)
		}
		known[edge{from: e.from, to: e.to}] = true
	}
	// Within one life nothing but what is drawn is taken.
	for _, from := range []string{"acknowledged", "dead", "discarded"} {
		for _, to := range []string{"retrying", "waiting", "discarded", "dead"} {
			id := "msg_" + from + "_" + to
			write(t, store, of(id, from, 0))
			if write(t, store, of(id, to, 0)) && !known[edge{from: from, to: to}] {
				t.Errorf("the store takes %s → %s, which the diagram does not draw", from, to)
			}
		}
	}
	write(t, store, of("msg_final", "acknowledged", 0))
	if write(t, store, of("msg_final", "queued", 1)) {
		t.Error("the store replays what is acknowledged")
	}
}

// letter puts a dead letter into a status and returns it as Get does.
func letter(t *testing.T, store *dynamo.DeadLetters, id, status string) deadletter.Record {
	t.Helper()
	create := deadletter.Record{Ref: ref(id, 0), Status: deadletter.Dead, DiedAt: now, UpdatedAt: now,
		Sealed: deadletter.Sealed{Body: []byte("sealed")}}
	if status == "[*]" {
		return create
	}
	if taken, err := store.Create(t.Context(), create); err != nil || !taken {
		t.Fatal(taken, err)
	}
	if status != "dead" {
		if _, _, taken, err := store.Claim(t.Context(), read(t, store, id), "ann", now); err != nil || !taken {
			t.Fatal(taken, err)
		}
	}
	if status == "replayed" {
		if taken, err := store.EndReplay(t.Context(), id, 1, deadletter.Replayed, now); err != nil || !taken {
			t.Fatal(taken, err)
		}
	}
	return read(t, store, id)
}

func read(t *testing.T, store *dynamo.DeadLetters, id string) deadletter.Record {
	t.Helper()
	r, found, err := store.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	return r
}

// transition makes the transition of an edge the way its function does.
func transition(t *testing.T, store *dynamo.DeadLetters, r deadletter.Record, e edge) (taken bool, err error) {
	t.Helper()
	ctx, id, late := t.Context(), r.DeliveryID, now.Add(deadletter.StaleClaim)
	switch {
	case e.to == "[*]":
		return store.Purge(ctx, r)
	case e.writer == "deadletter" && e.from == "[*]":
		return store.Create(ctx, r)
	case e.writer == "deadletter":
		r.Replay, r.DiedAt = 1, late
		return store.Append(ctx, r)
	case e.to == "replaying":
		_, _, taken, err = store.Claim(ctx, r, "bob", late)
		return taken, err
	default:
		return store.EndReplay(ctx, id, 1, deadletter.Status(e.to), late)
	}
}

func TestTheDeadLetterStoreMakesEveryTransitionOfTheDiagram(t *testing.T) {
	cfg := testkit.Moto(t)
	store := dynamo.NewDeadLetters(awscall.NewDynamoDB(cfg), testkit.Tables(t, cfg).DeadLetters)
	for i, e := range diagram(t, "Dead-letter states") {
		r := letter(t, store, fmt.Sprintf("msg_%d", i), e.from)
		if taken, err := transition(t, store, r, e); err != nil || !taken {
			t.Errorf("%s → %s by %s: taken %v, %v", e.from, e.to, e.writer, taken, err)
			continue
		}
		left, found, err := store.Get(t.Context(), r.DeliveryID)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(left.Status); found != (e.to != "[*]") || (found && got != e.to) {
			t.Errorf("%s → %s by %s leaves %q", e.from, e.to, e.writer, got)
		}
	}
}
