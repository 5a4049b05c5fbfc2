package deliver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// putTime bounds the puts into Backlog, so that time is left for refused ones; leaseTime, the leases before them.
const (
	putTime   = time.Second
	leaseTime = 500 * time.Millisecond
)

// settle carries out every move, each with the next best where AWS does not take it: DeadLetterQueue, leases,
// Backlog, queues, visibility. The ends it returns as staying go back to their queue; all others are acknowledged, and
// are elsewhere by now.
// Each step sees the moves as the steps before it left them. A refusal is therefore carried out in the same call, by a
// later step.
func (h *Handler) settle(ctx context.Context, ends []end) []end {
	if !slices.ContainsFunc(ends, end.moves) {
		return ends
	}
	ends = slices.Clone(ends)
	for _, s := range h.steps() {
		var indices []int
		var some []end
		for i, e := range ends {
			if e.moves() && s.takes(e) {
				indices, some = append(indices, i), append(some, e)
			}
		}
		if len(some) == 0 {
			continue
		}
		for n, err := range s.do(ctx, some) {
			if err != nil {
				ends[indices[n]] = s.refused(h.lost(some[n], s.metric, err))
			}
		}
	}
	return ends
}

// settleCharged settles, and counts its time for each delivery that is put into Backlog: where the table is throttled,
// a put keeps the process until it is given up.
func (h *Handler) settleCharged(ctx context.Context, ends []end, charging *charging) []end {
	began := h.Now()
	settled := h.settle(ctx, ends)
	took := h.Now().Sub(began)
	for _, e := range ends {
		if e.stores() {
			charging.spends(e.message.TenantID, took)
		}
	}
	return settled
}

// step carries out the moves of the ends that it takes. do returns one error per end. If AWS refuses an end, the metric
// counts it, and refused returns its next move.
type step struct {
	takes   func(e end) bool
	do      func(ctx context.Context, ends []end) []error
	metric  string
	refused func(e end) end
}

// steps are in order: each step's refusals go to a later step.
// A dead delivery that DeadLetterQueue refuses goes to Backlog. A delivery without a lease, or one that Backlog
// refuses, goes to RetryQueue if it came from DeliveryQueue, and stays on its queue otherwise. A delivery that another
// queue refuses stays on its queue as well. To stay needs no more than a visibility timeout, and without that the
// message still comes back.
func (h *Handler) steps() []step {
	to := func(way delivery.Way) func(end) bool { return func(e end) bool { return e.move.To == way } }
	// The message comes back at the end of its queue's visibility timeout. That is early, but nothing is lost.
	asItIs := func(e end) end { return e }
	return []step{
		{to(delivery.ToDeadLetterQueue), h.send(h.Queues.DeadLetter), "SendsLost", h.unsent},
		{h.unleased, h.lease, "LeasesLost", h.onQueue},
		{to(delivery.ToBacklog), h.putInBacklog, "BacklogPutsLost", h.onQueue},
		{to(delivery.ToRetryQueue), h.send(h.Queues.Retry), "SendsLost", h.unsent},
		{to(delivery.ToSlowQueue), h.send(h.Queues.Slow), "SendsLost", h.unsent},
		{end.hides, h.hide, "VisibilityLost", asItIs},
	}
}

// unleased reports whether the delivery is to be held and no lease that lasts is known.
// Without a lease, release might not look for the delivery, and nothing else would fetch it from Backlog.
func (h *Handler) unleased(e end) bool {
	return e.move.To == delivery.ToBacklog && e.move.Held && !e.reading.Circuit.MayHold(h.Rules.Circuit, h.Now())
}

// lease makes sure that release looks for deliveries before they are held: first the endpoint's circuit has to say
// so. Where that fails, the deliveries wait on their queue and are decided about again.
func (h *Handler) lease(ctx context.Context, ends []end) []error {
	var keys []dynamo.EndpointKey
	of := map[dynamo.EndpointKey]int{}
	for _, e := range ends {
		if _, known := of[e.key()]; !known {
			of[e.key()] = len(keys)
			keys = append(keys, e.key())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	now := h.Now()
	stored := parallel.Each(len(keys), tableWrites, func(i int) error {
		err := h.Tables.Circuits.Hold(ctx, keys[i], h.Rules.Circuit.NewLease(now), now)
		// The endpoint is asked about again even after an error: the lease may be stored, and its answer lost.
		h.memory.stir(keys[i])
		return err
	})
	errs := make([]error, len(ends))
	for n, e := range ends {
		errs[n] = stored[of[e.key()]]
	}
	return errs
}

// putInBacklog puts deliveries into Backlog. The ones that it does not take wait on a queue.
// A put counts as not stored where Backlog has a put of the same message that is not earlier (dynamo.ErrPutAgain).
// That one may be of a process with a clock that is ahead: older than this put, read by release, and about to be
// deleted. The delivery is put again with the next receive, at a later time.
func (h *Handler) putInBacklog(ctx context.Context, ends []end) []error {
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	now := h.Now()
	items := make([]backlog.Item, len(ends))
	for n, e := range ends {
		if e.move.Life.Reason == "" {
			e.move.Life.Reason = e.outcome.Reason
		}
		items[n] = backlog.New(e.message, e.move, now, putOf(e.task))
	}
	return h.Tables.Backlog.Put(ctx, items)
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
	m.To = delivery.Stay
	m.Held = false
	m.Due = h.Now().Add(wait)
	if e.from == delivery.DeliveryQueue {
		m.To = delivery.ToRetryQueue
	}
	return e.with(m)
}

// soon is the wait of a delivery that AWS did not take, longer with every receive.
func (h *Handler) soon(t task) time.Duration {
	return min(h.Rules.Schedule.Wait(t.receives, h.Random(), 0, 0), retry.MaxDelay)
}

// send sends deliveries to another queue.
func (h *Handler) send(to Sender) func(ctx context.Context, ends []end) []error {
	return func(ctx context.Context, ends []end) []error {
		now := h.Now()
		messages := make([]queue.Outgoing, len(ends))
		for n, e := range ends {
			messages[n] = outgoing(e, now)
		}
		return to.Send(ctx, messages)
	}
}

// unsent is the end of a delivery that its queue refused. One that is dead waits in Backlog; all others on the queue
// that they came from: on DeliveryQueue for that queue's visibility timeout.
func (h *Handler) unsent(e end) end {
	soon := h.Now().Add(h.soon(e.task))
	switch {
	case e.move.To == delivery.ToDeadLetterQueue:
		e.move.To = delivery.ToBacklog
		e.move.Attempts = h.Rules.Schedule.Last()
		e.move.Due = soon
		return e.with(e.move)
	case e.from == delivery.DeliveryQueue:
		e.move.To = delivery.Stay
		return e
	}
	e.move.Due = soon
	return h.onQueue(e)
}

// outgoing is the message that carries a delivery on. Only a dead one carries its reason.
// The count of attempts and the life in it are those of the next move.
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

// hide makes deliveries that stay on their queue invisible until their next attempt, duplicates included. All are of
// one queue.
func (h *Handler) hide(ctx context.Context, ends []end) []error {
	now := h.Now()
	var of []int // the ends of the changes
	var changes []queue.VisibilityChange
	for n, e := range ends {
		for _, r := range e.records {
			of = append(of, n)
			changes = append(changes, queue.VisibilityChange{ReceiptHandle: r.ReceiptHandle, Wait: rest(e.move, now)})
		}
	}
	errs := make([]error, len(ends))
	for n, err := range h.Queues.Hide[ends[0].from].ChangeVisibility(ctx, changes) {
		// A delivery counts as hidden if all its messages are. Its first refusal is the one that is reported.
		errs[of[n]] = cmp.Or(errs[of[n]], err)
	}
	return errs
}

// lost notes that AWS did not take a delivery's move. That is an internal error, even if the receiver failed as well.
// The message comes back by itself, or waits elsewhere.
func (h *Handler) lost(e end, metric string, err error) end {
	e.err = err
	h.Output.Metrics.Count(metric, 1)
	h.Output.Metrics.Count("ResultsLost", 1)
	return e
}
