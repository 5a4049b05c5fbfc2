package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
)

// move is what becomes of one item.
type move struct {
	item  backlog.Item
	to    *destination
	fate  health.Fate
	kind  kind          // what the metrics call it
	delay time.Duration // of what is sent

	sent    bool // SQS has it, or it is dropped
	done    bool // and it is deleted, or has its new time
	refused bool // by SQS or the table
}

// kind tells moves apart in metrics and log.
type kind string

const (
	kindDue       kind = "due"
	kindRecovery  kind = "recovery"
	kindProbe     kind = "probe"
	kindLast      kind = "last"
	kindDead      kind = "dead"
	kindDiscarded kind = "discarded"
	kindHeld      kind = "held" // given another time
)

var kinds = []kind{kindDue, kindRecovery, kindProbe, kindLast, kindDead, kindDiscarded, kindHeld}

// scheduled says what becomes of an item that was found by its due time; nil means nothing.
func (t *tick) scheduled(e *destination, i backlog.Item) *move {
	now := t.Now()
	if !i.Held && e.runs() {
		t.late(now.Sub(i.DueAt))
	}
	f := e.fate(t.Thresholds, i, now)
	switch f.Step {
	case health.SendDue:
		return &move{item: i, to: e, fate: f, kind: kindDue, delay: i.DueAt.Sub(now)}
	case health.SendLast:
		if limit := e.lastLimit(t.Thresholds); limit > 0 {
			return t.lastAttempt(e, i, f, limit)
		}
		e.lookedInVain() // recovery sends it
	case health.Redate, health.Die, health.Drop:
		return &move{item: i, to: e, fate: f}
	case health.Keep, health.SendRecovery:
		e.lookedInVain()
	}
	return nil
}

// lastAttempt is the move of what is sent once more, if there may be one more in this tick.
func (t *tick) lastAttempt(e *destination, i backlog.Item, f health.Fate, limit int) *move {
	n, ok := e.takeLast(limit)
	if !ok {
		e.lookedInVain()
		return nil
	}
	i.Message.Life.Last = true
	return &move{item: i, to: e, fate: f, kind: kindLast, delay: spread(t.Thresholds.Tick, n, limit)}
}

// carry carries moves out: it sends first and deletes after. It reports whether it makes sense to go
// on, which it does not when everything was refused.
func (t *tick) carry(ctx context.Context, moves []*move) (goOn bool) {
	var retries, deaths, drops, held []*move
	for _, m := range moves {
		switch m.fate.Step {
		case health.Die:
			m.kind = kindDead
			m.item.Message.Life.Reason, m.item.Message.Life.Status = delivery.Reason(m.fate.Reason), m.fate.Status
			deaths = append(deaths, m)
		case health.Drop:
			m.kind = kindDiscarded
			drops = append(drops, m)
		case health.Redate:
			m.kind = kindHeld
			held = append(held, m)
		default:
			retries = append(retries, m)
		}
	}
	t.send(ctx, t.RetryQueue, retries, func(m *move) queue.Outgoing {
		return queue.ToRetryQueue(m.item.Message, m.delay)
	})
	t.send(ctx, t.DeadLetterQueue, deaths, func(m *move) queue.Outgoing {
		return queue.ToDeadLetterQueue(m.item.Message)
	})
	t.discard(ctx, drops)
	t.delete(ctx, slices.Concat(retries, deaths, drops))
	t.redate(ctx, held)
	refused := false
	for _, m := range moves {
		if m.done {
			return true
		}
		refused = refused || m.refused
	}
	return !refused
}

// send says of each move whether the queue took it.
func (t *tick) send(ctx context.Context, to Queue, moves []*move, message func(*move) queue.Outgoing) {
	if len(moves) == 0 {
		return
	}
	messages := make([]queue.Outgoing, len(moves))
	for n, m := range moves {
		messages[n] = message(m)
	}
	for n, err := range to.Send(ctx, messages) {
		m := moves[n]
		if m.sent = err == nil; !m.sent {
			m.refused = true
			t.fault(ctx, "sending", err)
			continue
		}
		t.count(m.kind)
	}
}

// delete removes what was sent or dropped. What cannot be deleted is sent again by the next tick; its
// partition is left alone until then.
func (t *tick) delete(ctx context.Context, moves []*move) {
	moves = slices.DeleteFunc(moves, func(m *move) bool { return !m.sent })
	if len(moves) == 0 {
		return
	}
	keys := make([]backlog.Key, len(moves))
	for n, m := range moves {
		keys[n] = m.item.Key
	}
	for n, err := range t.Changes.Delete(ctx, keys) {
		moves[n].done, moves[n].refused = err == nil, err != nil
		if err == nil {
			continue
		}
		t.fault(ctx, "deleting", err)
		t.mu.Lock()
		t.refused[partitionOf(keys[n])] = true
		t.mu.Unlock()
	}
}

// discard records that deliveries are dropped. They are deleted even where that cannot be recorded.
func (t *tick) discard(ctx context.Context, moves []*move) {
	t.each(ctx, "writing a delivery's state", len(moves), func(i int) error {
		moves[i].sent = true
		t.count(kindDiscarded)
		m := moves[i].item.Message
		eventType, err := m.EventType()
		if err != nil {
			eventType = "" // the record goes without it
		}
		_, err = t.States.Update(ctx, delivery.Record{
			Ref: m.Ref, EventType: eventType, State: delivery.Discarded, Attempts: m.Attempts,
			LastStatus: m.Life.Status, Reason: delivery.Reason(moves[i].fate.Reason), UpdatedAt: t.Now(),
		})
		return err
	})
}

// redate makes what would be sent now wait for its endpoint, until its life ends.
func (t *tick) redate(ctx context.Context, moves []*move) {
	t.each(ctx, "holding what is due", len(moves), func(i int) error {
		m := moves[i]
		if !t.mayHold(ctx, m.to) {
			return nil
		}
		_, err := t.Changes.Redate(ctx, m.item.Key, m.fate.Due, true)
		if m.done, m.refused = err == nil, err != nil; m.refused {
			return err
		}
		t.count(kindHeld)
		return nil
	})
}
