package deliver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/rate"
)

// slotTime bounds the writes that take slots, because the other deliveries of the batch wait for them. A process that
// could not take slots asks again after refusedFor: an endpoint with an item that DynamoDB throttles must not hold up
// every batch that it is in.
const (
	slotTime   = 500 * time.Millisecond
	refusedFor = 2 * time.Second
)

// taker is all that wants slots of one moment.
type taker struct {
	moment
	limit int
	posts []candidate
}

// slots lets go the attempts that their endpoints' limits allow, and ends the others without one: they wait for their
// rate. An endpoint without a limit costs nothing. One with a limit costs a write for the batch, or none while the
// process knows that no slot is free. Where slots cannot be taken, nothing is attempted: a limit holds.
func (h *Handler) slots(ctx context.Context, posts []candidate) (ends []end, allowed []candidate) {
	takers, allowed := takersOf(posts, h.Now())
	if len(takers) == 0 {
		return nil, allowed
	}
	h.refusedLast(takers)
	ctx, cancel := context.WithTimeout(ctx, slotTime)
	defer cancel()
	taken := make([]int, len(takers))
	errs := parallel.Each(len(takers), tableWrites, func(n int) (err error) {
		taken[n], err = h.take(ctx, takers[n])
		return err
	})
	for n, t := range takers {
		for at, c := range t.posts {
			switch {
			case errs[n] != nil:
				ends = append(ends, h.fault(c, errs[n]))
			case at < taken[n] || c.urgent():
				allowed = append(allowed, c)
			default:
				c.noSlot = true
				ends = append(ends, h.unattempted(c, decide(c.task, *c.reading, h.Rules, h.Now())))
			}
		}
	}
	return ends, allowed
}

// refusedLast moves those to the end that could not take slots last time. Their writes may use up the time again, and
// those of the others are made by then.
func (h *Handler) refusedLast(takers []taker) {
	slices.SortStableFunc(takers, func(a, b taker) int {
		return cmp.Compare(h.refusals(a.moment), h.refusals(b.moment))
	})
}

// refusals is 1 after a try that failed, and else 0.
func (h *Handler) refusals(m moment) int {
	if known, _ := h.memory.slots.Get(m); known.refused != nil {
		return 1
	}
	return 0
}

// takersOf gathers the attempts that want slots, the oldest of each endpoint first. The others are free: those to
// endpoints without a limit, and those that release has sent in a slot.
func takersOf(posts []candidate, now time.Time) (takers []taker, free []candidate) {
	of := map[moment]int{}
	for _, c := range posts {
		limit := c.reading.Endpoint.Rate()
		inSlot := c.receives == 1 && !c.message.Life.Slot.IsZero()
		late := inSlot && now.Sub(c.message.Life.Slot) > rate.Punctual
		if limit == 0 || inSlot && !late {
			free = append(free, c)
			continue
		}
		m := moment{c.key(), late}
		n, known := of[m]
		if !known {
			n = len(takers)
			of[m] = n
			takers = append(takers, taker{moment: m, limit: limit})
		}
		takers[n].posts = append(takers[n].posts, c)
	}
	for _, t := range takers {
		slices.SortStableFunc(t.posts, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.rank(), a.rank()), a.message.CreatedAt.Compare(b.message.CreatedAt))
		})
	}
	return takers, free
}

// urgent reports whether the attempt takes a slot where there is one, and is made without one: a probe, on which
// everything waits, or a test, which would be dropped. There are few of both.
func (c candidate) urgent() bool {
	return c.message.IsTest() || c.receives == 1 && !c.message.Life.Probe.IsZero()
}

func (c candidate) rank() int {
	if c.urgent() {
		return 1
	}
	return 0
}

// take takes slots, unless the process knows that none is free, or could not take any a moment ago.
func (h *Handler) take(ctx context.Context, t taker) (slots int, err error) {
	now := h.Now()
	seen, _ := h.memory.slots.Get(t.moment)
	ask := rate.Ask{Limit: t.limit, Want: len(t.posts), Ahead: rate.Burst, Late: t.late, Seen: seen.until}
	if seen.limit == t.limit && now.Before(seen.noneBefore) {
		return 0, seen.refused
	}
	// Others used up the time. Nothing is known of this moment, so the next batch asks.
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("taking slots: %w", err)
	}
	taken, err := h.Tables.Rates.Take(ctx, t.key, ask, now)
	if err != nil {
		again := h.Now().Add(refusedFor)
		h.memory.slots.Put(t.moment, taking{limit: t.limit, until: seen.until, noneBefore: again, refused: err})
		return 0, err
	}
	known := taking{limit: t.limit, until: taken.Until}
	if taken.Slots < len(t.posts) {
		known.noneBefore = latest(ask.NoneBefore(taken.Until), now.Add(askEvery))
	}
	h.memory.slots.Put(t.moment, known)
	return taken.Slots, nil
}

// askEvery is how often, at most, a process asks for slots where it found too few. It bounds the writes to one item, as
// for circuits, and costs no slot: as many as a second has are left over from before.
const askEvery = rate.Burst / 2

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
