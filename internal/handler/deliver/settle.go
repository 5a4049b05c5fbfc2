package deliver

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
)

// tableWrites bounds the concurrent single writes of one batch; putTime bounds the puts into Backlog, so that time is
// left for refused ones; leaseTime, the leases before them.
const (
	tableWrites = 10
	putTime     = time.Second
	leaseTime   = 500 * time.Millisecond
)

// settle carries out every move, each with the next best where AWS does not take it: DeadLetterQueue, leases,
// Backlog, queues, visibility. The ends it returns go back to their queue; all others are acknowledged, and are
// elsewhere by now.
func (h *Handler) settle(ctx context.Context, ends []end) []end {
	ends = h.send(ctx, ends, delivery.ToDeadLetterQueue, h.Queues.DeadLetter) // refused: into Backlog
	ends = h.lease(ctx, ends)
	ends = h.putInBacklog(ctx, ends)
	ends = h.send(ctx, ends, delivery.ToRetryQueue, h.Queues.Retry)
	ends = h.send(ctx, ends, delivery.ToSlowQueue, h.Queues.Slow)
	return h.hide(ctx, ends)
}

// going are the indices of the ends that move that way.
func going(ends []end, to delivery.Way) (indices []int) {
	for i, e := range ends {
		if e.moves() && !e.returned && e.move.To == to {
			indices = append(indices, i)
		}
	}
	return indices
}

// lease makes sure that release looks for deliveries before they are held: first the endpoint's circuit has to say
// so. Where that fails, the deliveries wait on their queue and are decided about again.
func (h *Handler) lease(ctx context.Context, ends []end) []end {
	now := h.Now()
	held := map[dynamo.EndpointKey][]int{}
	var keys []dynamo.EndpointKey
	for _, i := range going(ends, delivery.ToBacklog) {
		e := ends[i]
		if !e.move.Held || e.reading.Circuit.MayHold(h.Rules.Circuit, now) {
			continue
		}
		if held[e.key()] == nil {
			keys = append(keys, e.key())
		}
		held[e.key()] = append(held[e.key()], i)
	}
	if len(keys) == 0 {
		return ends
	}
	ends = slices.Clone(ends)
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	errs := parallel.Each(len(keys), tableWrites, func(i int) error {
		_, err := h.Tables.Circuits.Hold(ctx, keys[i], h.Rules.Circuit.NewLease(now), now)
		h.memory.stir(keys[i])
		return err
	})
	for n, err := range errs {
		for _, i := range held[keys[n]] {
			if err != nil {
				ends[i] = h.onQueue(h.lost(ends[i], "LeasesLost", err))
			}
		}
	}
	return ends
}

// putInBacklog puts deliveries into Backlog. The ones that it does not take wait on a queue.
func (h *Handler) putInBacklog(ctx context.Context, ends []end) []end {
	indices := going(ends, delivery.ToBacklog)
	if len(indices) == 0 {
		return ends
	}
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	now := h.Now()
	items := make([]backlog.Item, len(indices))
	for n, i := range indices {
		e := ends[i]
		if e.move.Life.Reason == "" {
			e.move.Life.Reason = e.outcome.Reason
		}
		items[n] = backlog.New(e.message, e.move, now, putOf(e.task))
	}
	ends = slices.Clone(ends)
	for n, err := range h.Tables.Backlog.Put(ctx, items) {
		if err != nil {
			ends[indices[n]] = h.onQueue(h.lost(ends[indices[n]], "BacklogPutsLost", err))
		}
	}
	return ends
}

// putOf tells the items of a delivery's messages apart. A message that is put again, because its first
// put was stored and its answer was lost, overwrites its item: otherwise every receive would make one
// more copy of the delivery.
func putOf(t task) string {
	sum := sha256.Sum256([]byte(t.records[0].MessageId))
	return base32.StdEncoding.EncodeToString(sum[:])[:putLetters]
}

// putLetters is enough for the dozens of messages that one delivery may become.
const putLetters = 10

// onQueue makes a delivery that cannot wait in Backlog, or be sent, wait on a queue. A held one is tried again soon,
// since that costs no POST.
func (h *Handler) onQueue(e end) end {
	wait := e.move.Due.Sub(h.Now())
	if e.move.Held || wait <= 0 || wait > retry.MaxDelay {
		wait = h.soon(e.task)
	}
	m := e.move
	m.To, m.Held, m.Due = delivery.Stay, false, h.Now().Add(wait)
	if e.from == delivery.DeliveryQueue {
		m.To = delivery.ToRetryQueue
	}
	return e.with(m)
}

// soon is the wait of a delivery that AWS did not take, longer with every receive.
func (h *Handler) soon(t task) time.Duration {
	return min(h.Rules.Schedule.Wait(t.receives, h.Random(), 0, 0), retry.MaxDelay)
}

// send sends deliveries to another queue. The ones that it does not take wait on their own: on DeliveryQueue for that
// queue's visibility timeout.
func (h *Handler) send(ctx context.Context, ends []end, to delivery.Way, queueOf Sender) []end {
	indices := going(ends, to)
	if len(indices) == 0 {
		return ends
	}
	now := h.Now()
	messages := make([]queue.Outgoing, len(indices))
	for n, i := range indices {
		messages[n] = outgoing(ends[i], now)
	}
	ends = slices.Clone(ends)
	for n, err := range queueOf.Send(ctx, messages) {
		if err == nil {
			continue
		}
		ends[indices[n]] = h.unsent(h.lost(ends[indices[n]], "SendsLost", err))
	}
	return ends
}

// unsent is the end of a delivery that its queue refused. One that is dead waits in Backlog; all others on
// the queue that they came from.
func (h *Handler) unsent(e end) end {
	soon := h.Now().Add(h.soon(e.task))
	switch {
	case e.move.To == delivery.ToDeadLetterQueue:
		e.move.To, e.move.Attempts, e.move.Due = delivery.ToBacklog, h.Rules.Schedule.Last(), soon
		return e.with(e.move)
	case e.from == delivery.DeliveryQueue:
		e.returned = true
		return e
	}
	e.move.Due = soon
	return h.onQueue(e)
}

// outgoing is the message that carries a delivery on. Only a dead one carries its reason.
func outgoing(e end, now time.Time) queue.Outgoing {
	m := e.message
	m.Attempts, m.Life = e.move.Attempts, e.move.Life
	if e.move.To == delivery.ToDeadLetterQueue {
		return queue.Of(m, 0)
	}
	return queue.ToRetry(m, rest(e.move, now))
}

// rest is the rest of a wait: it counts from the end of the attempt.
func rest(m delivery.Move, now time.Time) time.Duration {
	return min(max(m.Due.Sub(now), 0), retry.MaxDelay)
}

// hide makes deliveries that stay on their queue invisible until their next attempt, duplicates included.
func (h *Handler) hide(ctx context.Context, ends []end) []end {
	indices := going(ends, delivery.Stay)
	if len(indices) == 0 {
		return ends
	}
	now := h.Now()
	owners := map[delivery.Queue][]int{}
	changes := map[delivery.Queue][]queue.VisibilityChange{}
	ends = slices.Clone(ends)
	for _, i := range indices {
		ends[i].returned = true
		from := ends[i].from
		for _, r := range ends[i].records {
			owners[from] = append(owners[from], i)
			changes[from] = append(changes[from], queue.VisibilityChange{
				ReceiptHandle: r.ReceiptHandle, Wait: rest(ends[i].move, now),
			})
		}
	}
	for from, hides := range changes {
		for n, err := range h.Queues.Hide[from].ChangeVisibility(ctx, hides) {
			if err != nil { // it comes back after the queue's own visibility timeout: early, never lost
				i := owners[from][n]
				ends[i] = h.lost(ends[i], "VisibilityLost", err)
			}
		}
	}
	return ends
}

// lost notes that AWS did not take a delivery's move: a fault of ours, whether or not the receiver failed. The
// message comes back by itself, or waits elsewhere.
func (h *Handler) lost(e end, metric string, err error) end {
	e.err = err
	h.Output.Metrics.Count(metric, 1)
	h.Output.Metrics.Count("ResultsLost", 1)
	return e
}
