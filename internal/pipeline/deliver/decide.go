package deliver

import (
	"cmp"
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// action is the step for a delivery in hand.
type action int

// The actions.
const (
	post    action = iota // make the attempt
	hold                  // put it into Backlog until its endpoint can take it
	aside                 // send it to SlowQueue
	putOff                // send it to RetryQueue, to arrive later
	discard               // acknowledge it: it is no longer wanted
	bury                  // end it without an attempt
)

// decision is an action and its reason; "" for post.
type decision struct {
	action action
	reason delivery.Reason
}

// decide chooses the action for a delivery, by the answer of its endpoint's gate.
func decide(t task, r dynamo.Reading, rules Rules, now time.Time) decision {
	asked := endpoint.DeliveryOf(&t.message, rules.Schedule)
	// A claim is for one attempt. A message that is received again, because its put into Backlog was refused, is held.
	if t.receives == 1 {
		asked.Probe = t.message.Life.Probe
	}
	asked.NoSlot = t.noSlot
	answer := r.Admits(asked)
	switch {
	case answer.Drops():
		return decision{discard, answer.Reason()}
	case answer == endpoint.PlacesUsed:
		// A delivery with all its places used and no reason was received by processes that ended without a report.
		return decision{bury, cmp.Or(t.message.Life.Reason, delivery.ReasonCrashed)}
	case answer != endpoint.Free:
		return decision{hold, answer.Reason()}
	}
	if d := decideLane(t, r.SlowUntil, rules, now); d.action != post || t.backoff(r.Circuit, now) == 0 {
		return d
	}
	return decision{putOff, delivery.ReasonRetryAfter}
}

// backoff is how long a first attempt waits because the receiver has answered another one with 429 and Retry-After. It
// waits once: its next receive is of another queue.
func (t task) backoff(i circuit.Item, now time.Time) time.Duration {
	if t.from != delivery.DeliveryQueue || t.message.IsTest() {
		return 0
	}
	return i.Backoff(now)
}

// decideLane says where an attempt is made. A probe is attempted where it is received.
func decideLane(t task, slowUntil time.Time, rules Rules, now time.Time) decision {
	life, inLane := t.message.Life, t.from == delivery.SlowQueue
	end := rules.Schedule.End(life.StartedAt)
	switch {
	case inLane && !now.Before(end) && t.sentAt.Before(end):
		return decision{bury, delivery.ReasonTenantSlow} // SQS would delete it unseen after 14 days
	case !inLane && life.Probe.IsZero() && rules.Allowance.Slow(slowUntil, now):
		return decision{aside, delivery.ReasonTenantSlow}
	}
	return decision{action: post}
}

// look reads the endpoints of the tasks. Circuits that cannot be read are taken from memory for a while. Where the
// table cannot be read, that is the error of each reading.
// Deliveries to one endpoint share one reading, so that a batch reads each endpoint once.
func (h *Handler) look(ctx context.Context, tasks []task) map[dynamo.EndpointKey]*dynamo.Reading {
	if len(tasks) == 0 {
		return nil
	}
	keys := make([]dynamo.EndpointKey, 0, len(tasks))
	seen := make(map[dynamo.EndpointKey]bool, len(tasks))
	for _, t := range tasks {
		if key := t.key(); !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	now := h.Now()
	found, err := h.Tables.Endpoints.Read(ctx, keys, h.memory.quietOf(keys, now))
	// The age of a remembered circuit counts from the answer of the table, so the clock is read again.
	now = h.Now()
	readings := make(map[dynamo.EndpointKey]*dynamo.Reading, len(keys))
	for _, key := range keys {
		reading := dynamo.Reading{Err: err}
		if err == nil {
			reading = h.memory.recall(key, found[key], h.Rules.Circuit.Run, now)
		}
		readings[key] = &reading
	}
	return readings
}
