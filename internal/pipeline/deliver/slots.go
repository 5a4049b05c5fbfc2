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

// slotGroup are the attempts of a batch that take their slots from one moment.
type slotGroup struct {
	slotKey
	limit int
	posts []candidate
}

// slots lets go the attempts that their endpoints' limits allow, and ends the others without one: they wait for their
// rate. An endpoint without a limit costs nothing. One with a limit costs a write for the batch, or none while the
// process knows that no slot is free. Where slots cannot be taken, nothing is attempted: a limit holds.
func (h *Handler) slots(ctx context.Context, posts []candidate) (ends []end, allowed []candidate) {
	groups, allowed := groupsOf(posts, h.Now())
	if len(groups) == 0 {
		return nil, allowed
	}
	h.refusedLast(groups)
	ctx, cancel := context.WithTimeout(ctx, slotTime)
	defer cancel()
	taken := make([]int, len(groups))
	errs := parallel.Each(len(groups), tableWrites, func(n int) (err error) {
		taken[n], err = h.take(ctx, groups[n])
		return err
	})
	for n, g := range groups {
		for i, c := range g.posts {
			switch {
			case errs[n] != nil:
				ends = append(ends, h.next(c, fault(errs[n], h.Now())))
			case i < taken[n] || c.urgent():
				allowed = append(allowed, c)
			default:
				c.noSlot = true
				ends = append(ends, h.unattempted(c, decide(c.task, *c.reading, h.Rules, h.Now())))
			}
		}
	}
	return ends, allowed
}

// refusedLast moves those groups to the end that could not take slots last time. Their writes may use up the time
// again, and those of the others are made by then.
func (h *Handler) refusedLast(groups []slotGroup) {
	slices.SortStableFunc(groups, func(a, b slotGroup) int {
		return cmp.Compare(h.refusals(a.slotKey), h.refusals(b.slotKey))
	})
}

// refusals is 1 after a try that failed, and else 0.
func (h *Handler) refusals(key slotKey) int {
	if known, _ := h.memory.slots.Get(key); known.refused != nil {
		return 1
	}
	return 0
}

// groupsOf gathers the attempts that want slots, the oldest of each endpoint first. The others are free: those to
// endpoints without a limit, and those that release has sent in a slot.
func groupsOf(posts []candidate, now time.Time) (groups []slotGroup, free []candidate) {
	of := map[slotKey]int{}
	for _, c := range posts {
		limit := c.reading.Endpoint.Rate()
		inSlot := c.receives == 1 && !c.message.Life.Slot.IsZero()
		late := inSlot && now.Sub(c.message.Life.Slot) > rate.Punctual
		if limit == 0 || inSlot && !late {
			free = append(free, c)
			continue
		}
		key := slotKey{c.key(), late}
		n, known := of[key]
		if !known {
			n = len(groups)
			of[key] = n
			groups = append(groups, slotGroup{slotKey: key, limit: limit})
		}
		groups[n].posts = append(groups[n].posts, c)
	}
	for _, g := range groups {
		slices.SortStableFunc(g.posts, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.rank(), a.rank()), a.message.CreatedAt.Compare(b.message.CreatedAt))
		})
	}
	return groups, free
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
func (h *Handler) take(ctx context.Context, g slotGroup) (slots int, err error) {
	now := h.Now()
	seen, _ := h.memory.slots.Get(g.slotKey)
	ask := rate.Ask{Limit: g.limit, Want: len(g.posts), Ahead: rate.Burst, Late: g.late, Seen: seen.until}
	if seen.limit == g.limit && now.Before(seen.noneBefore) {
		return 0, seen.refused
	}
	// Others used up the time. Nothing is known of this moment, so the next batch asks.
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("taking slots: %w", err)
	}
	taken, err := h.Tables.Rates.Take(ctx, g.key, ask, now)
	if err != nil {
		again := h.Now().Add(refusedFor)
		h.memory.slots.Put(g.slotKey, slotState{limit: g.limit, until: seen.until, noneBefore: again, refused: err})
		return 0, err
	}
	known := slotState{limit: g.limit, until: taken.Until}
	if taken.Slots < len(g.posts) {
		known.noneBefore = latest(ask.NoneBefore(taken.Until), now.Add(askEvery))
	}
	h.memory.slots.Put(g.slotKey, known)
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
