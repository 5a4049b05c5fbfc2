package release

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
)

// move is a way out of Backlog for one item, or back to its own due time. The item's message is the one
// that is sent.
type move struct {
	kind  kind
	item  backlog.Item
	delay time.Duration // of a message to RetryQueue
}

// kind tells moves apart, in metrics and log too.
type kind string

const (
	kindDue       kind = "due"      // to RetryQueue
	kindRecovery  kind = "recovery" // to RetryQueue
	kindProbe     kind = "probe"    // to RetryQueue
	kindDead      kind = "dead"     // to DeadLetterQueue
	kindDiscarded kind = "discarded"
	kindPutBack   kind = "put_back"
)

var kinds = []kind{kindDue, kindRecovery, kindProbe, kindDead, kindDiscarded, kindPutBack}

// dead is the move of an item whose delivery dies for the reason, with the status of its last attempt.
func dead(i backlog.Item, reason delivery.Reason) move {
	i.Message.Life.Reason = reason
	return move{kind: kindDead, item: i}
}

// discarded is the move of an item that is dropped.
func discarded(i backlog.Item, reason delivery.Reason) move {
	i.Message.Life.Reason = reason
	return move{kind: kindDiscarded, item: i}
}

// outlet carries moves out: it sends first and deletes after.
type outlet struct {
	h *Handler
	t *tally

	mu      sync.Mutex
	refused map[partition]bool // a read or a change, in this run
}

// partition is one of Backlog: a shard of an endpoint.
type partition struct {
	endpointID string
	shard      int
}

// carry carries moves out and returns how many of them are done. refused says that there were messages to
// send, and no queue took any.
func (o *outlet) carry(ctx context.Context, moves []move) (done int, refused bool) {
	var retries, deaths, drops, back []move
	for _, m := range moves {
		switch m.kind {
		case kindDead:
			deaths = append(deaths, m)
		case kindDiscarded:
			drops = append(drops, m)
		case kindPutBack:
			back = append(back, m)
		default:
			retries = append(retries, m)
		}
	}
	sent := slices.Concat(
		o.send(ctx, o.h.RetryQueue, retries, func(m move) queue.Outgoing { return queue.ToRetry(m.item.Message, m.delay) }),
		o.send(ctx, o.h.DeadLetterQueue, deaths, func(m move) queue.Outgoing { return queue.Of(m.item.Message, 0) }),
	)
	refused = len(sent) == 0 && len(retries)+len(deaths) > 0
	return o.delete(ctx, append(sent, o.record(ctx, drops)...)) + o.putBack(ctx, back), refused
}

// send returns the moves whose messages the queue took.
func (o *outlet) send(ctx context.Context, to Queue, moves []move, message func(move) queue.Outgoing) (sent []move) {
	if len(moves) == 0 {
		return nil
	}
	messages := make([]queue.Outgoing, len(moves))
	for n, m := range moves {
		messages[n] = message(m)
	}
	for n, err := range to.Send(ctx, messages) {
		if err != nil {
			o.t.fault(ctx, "sending", err)
			continue
		}
		o.t.count(moves[n].kind)
		sent = append(sent, moves[n])
	}
	return sent
}

// record notes for operators that deliveries are discarded. They are dropped even where that fails.
func (o *outlet) record(ctx context.Context, moves []move) []move {
	o.t.each(ctx, "writing a delivery's state", len(moves), func(n int) error {
		m := moves[n].item.Message
		o.t.count(kindDiscarded)
		eventType, err := m.EventType()
		if err != nil {
			eventType = "" // the record goes without it
		}
		_, err = o.h.Records.Update(ctx, delivery.Record{
			Ref: m.Ref, EventType: eventType, State: delivery.Discarded, Attempts: m.Attempts,
			LastStatus: m.Life.Status, Reason: m.Life.Reason, UpdatedAt: o.h.Now(),
		})
		return err
	})
	return moves
}

// delete removes the items of messages that were taken. One that stays is sent again by the next run; its
// partition is left alone until then.
func (o *outlet) delete(ctx context.Context, gone []move) (deleted int) {
	if len(gone) == 0 {
		return 0
	}
	keys := make([]backlog.Key, len(gone))
	for n, m := range gone {
		keys[n] = m.item.Key
	}
	for n, err := range o.h.Backlog.Delete(ctx, keys) {
		if err != nil {
			o.refuse(keys[n])
			o.t.fault(ctx, "deleting", err)
			continue
		}
		deleted++
	}
	return deleted
}

// putBack makes items wait for their schedule, and no longer for their endpoint.
func (o *outlet) putBack(ctx context.Context, moves []move) (done int) {
	errs := o.t.each(ctx, "putting an item back", len(moves), func(n int) error {
		_, err := o.h.Backlog.PutBack(ctx, moves[n].item.PutBack())
		return err
	})
	for n, err := range errs {
		if err != nil {
			o.refuse(moves[n].item.Key)
			continue
		}
		o.t.count(kindPutBack)
		done++
	}
	return done
}

func (o *outlet) refuse(k backlog.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused[partition{k.EndpointID, k.Shard}] = true
}

// refuses reports whether the partition has refused a read or a change in this run.
func (o *outlet) refuses(endpointID string, shard int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refused[partition{endpointID, shard}]
}
