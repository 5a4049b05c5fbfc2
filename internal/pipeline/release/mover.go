package release

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Changes changes single items of Backlog (dynamo.Backlog).
type Changes interface {
	Delete(ctx context.Context, items []backlog.Item) []error
	PutBack(ctx context.Context, item backlog.Item) (found bool, err error)
}

// Records keeps the states of deliveries, for operators (dynamo.Deliveries).
type Records interface {
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
}

// Queue takes messages, and answers with one error for each (queue.Sender).
type Queue interface {
	Send(ctx context.Context, messages []queue.Outgoing) []error
}

// transfer takes one item out of Backlog, or has it wait for its own schedule again. The item's message is the one
// that is sent.
type transfer struct {
	kind kind
	item backlog.Item
	// delay is how long RetryQueue keeps the message back.
	delay time.Duration
}

// dead is the transfer of an item as a dead letter. The message keeps the status of its last attempt.
func dead(i backlog.Item, reason delivery.Reason) transfer {
	i.Message.Life.Reason = reason
	return transfer{kind: kindDead, item: i}
}

// discarded is the transfer of an item that is dropped.
func discarded(i backlog.Item, reason delivery.Reason) transfer {
	i.Message.Life.Reason = reason
	return transfer{kind: kindDiscarded, item: i}
}

// mover carries transfers out. It sends first and deletes after, so that a run which ends in between leaves duplicates
// and no loss. All kinds of work of a run share one mover, and by it they know which partitions to leave alone. It is
// safe for concurrent use.
type mover struct {
	changes                     Changes
	records                     Records
	retryQueue, deadLetterQueue Queue
	now                         func() time.Time

	// refused are the partitions that refused a read or a change in this run. mu guards them.
	refused map[partition]bool
	mu      sync.Mutex
}

// partition is a partition of Backlog: one shard of an endpoint. AWS throttles each alone.
type partition struct {
	endpointID string
	shard      int
}

// leave leaves the partitions of these items alone for the rest of the run, because they refused a read or a change.
func (m *mover) leave(keys ...backlog.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		m.refused[partition{k.EndpointID, k.Shard}] = true
	}
}

// leaves reports whether the partition is left alone.
func (m *mover) leaves(endpointID string, shard int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused[partition{endpointID, shard}]
}

// carried is the result of some transfers.
type carried struct {
	// done are the transfers that are complete: the item is gone, or put back.
	done int
	// refused tells that there were messages to send, and no queue took any.
	refused bool
	did     counts
}

// carry carries transfers out: it sends, records the ones that are dropped, deletes and puts back, in this order. An
// item whose message no queue took is not deleted.
func (m *mover) carry(ctx context.Context, transfers []transfer) carried {
	// Kinds differ in the queue that takes the message, and in whether the item goes or stays.
	by := [kinds][]transfer{}
	for _, t := range transfers {
		by[t.kind] = append(by[t.kind], t)
	}
	retries := slices.Concat(by[kindDue], by[kindRecovery], by[kindPaced], by[kindProbe])
	toRetry, retried := m.send(ctx, m.retryQueue, retries, func(t transfer) queue.Outgoing {
		return queue.ToRetry(t.item.Message, t.delay)
	})
	toDie, died := m.send(ctx, m.deadLetterQueue, by[kindDead], func(t transfer) queue.Outgoing {
		return queue.Of(t.item.Message, 0)
	})
	dropped := m.record(ctx, by[kindDiscarded])
	deleted, removed := m.delete(ctx, slices.Concat(toRetry, toDie, by[kindDiscarded]))
	back, returned := m.putBack(ctx, by[kindPutBack])

	toSend, sent := len(retries)+len(by[kindDead]), len(toRetry)+len(toDie)
	return carried{
		done:    deleted + back,
		refused: toSend > 0 && sent == 0,
		did:     retried.plus(died, dropped, removed, returned),
	}
}

// send sends messages, and returns the transfers that the queue took.
func (m *mover) send(
	ctx context.Context, to Queue, transfers []transfer, message func(transfer) queue.Outgoing,
) (sent []transfer, did counts) {
	if len(transfers) == 0 {
		return nil, counts{}
	}
	messages := make([]queue.Outgoing, len(transfers))
	for n, t := range transfers {
		messages[n] = message(t)
	}
	errs := to.Send(ctx, messages)
	did = failed("sending", errs...)
	for n, err := range errs {
		if err == nil {
			did.transferred[transfers[n].kind]++
			sent = append(sent, transfers[n])
		}
	}
	return sent, did
}

// record writes for operators that deliveries are discarded. They are dropped even where that fails: a record is worth
// less than an owner's order.
func (m *mover) record(ctx context.Context, drops []transfer) counts {
	did := inSteps(step{"writing a delivery's state", len(drops), func(n int) (counts, error) {
		message := drops[n].item.Message
		eventType, err := message.EventType()
		if err != nil {
			eventType = "" // the record is written without it
		}
		_, err = m.records.Update(ctx, delivery.Record{
			Ref: message.Ref, EventType: eventType, TraceID: message.Trace.TraceID(), State: delivery.Discarded,
			Attempts: message.Attempts, LastStatus: message.Life.Status, Reason: message.Life.Reason, UpdatedAt: m.now(),
		})
		return counts{}, err
	}})
	did.transferred[kindDiscarded] = len(drops)
	return did
}

// delete removes the items of transfers that a queue took, or that are dropped. If a deletion fails, the next run sends
// the item again, and its partition is left alone until then. An item that was put again since it was read stays as
// well, which is no fault.
func (m *mover) delete(ctx context.Context, taken []transfer) (deleted int, did counts) {
	if len(taken) == 0 {
		return 0, counts{}
	}
	keys := make([]backlog.Key, len(taken))
	items := make([]backlog.Item, len(taken))
	for n, t := range taken {
		keys[n] = t.item.Key
		items[n] = t.item
	}
	errs := m.changes.Delete(ctx, items)
	deleted = m.changed(keys, errs)
	faults := slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, dynamo.ErrPutAgain) })
	return deleted, failed("deleting", faults...)
}

// putBack has items wait for their schedule, and no longer for their endpoint.
func (m *mover) putBack(ctx context.Context, transfers []transfer) (done int, did counts) {
	keys := make([]backlog.Key, len(transfers))
	errs := parallel.Each(len(transfers), atOnce, func(n int) error {
		keys[n] = transfers[n].item.Key
		_, err := m.changes.PutBack(ctx, transfers[n].item.PutBack())
		return err
	})
	done, did = m.changed(keys, errs), failed("putting an item back", errs...)
	did.transferred[kindPutBack] = done
	return done, did
}

// changed is the number of items that were changed. The partitions of the others are left alone.
func (m *mover) changed(keys []backlog.Key, errs []error) (n int) {
	for at, err := range errs {
		if err != nil {
			m.leave(keys[at])
			continue
		}
		n++
	}
	return n
}
