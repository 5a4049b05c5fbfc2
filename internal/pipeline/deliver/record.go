package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// stateTime bounds all writes of delivery states: they are not worth holding an invocation for.
const stateTime = 2 * time.Second

// record writes delivery states and circuits. A failed write is logged and counted. It loses no delivery, because the
// work is on the queues.
func (h *Handler) record(ctx context.Context, ends []end) {
	h.recordStates(ctx, ends)
	h.recordCircuits(ctx, ends)
}

// recordStates writes the state of each delivery, the acknowledged ones in one call. Only operators read the states,
// and the queues hold the truth. So it gives up early, and returns no error.
func (h *Handler) recordStates(ctx context.Context, ends []end) {
	now := h.Now()
	acknowledged := make([]delivery.Record, 0, len(ends))
	var others []delivery.Record
	for _, e := range ends {
		switch {
		case h.Rules.Unrecorded && e.succeededAtOnce():
			// is not wanted
		case e.outcome.Verdict == delivery.VerdictAcknowledged:
			acknowledged = append(acknowledged, e.state(now))
		default:
			others = append(others, e.state(now))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	if err := h.Tables.Deliveries.Acknowledge(ctx, acknowledged); err != nil {
		h.reportStateLost(ctx, err)
	}
	for _, err := range parallel.Each(len(others), tableWrites, func(i int) error {
		_, err := h.Tables.Deliveries.Update(ctx, others[i])
		return err
	}) {
		if err != nil {
			h.reportStateLost(ctx, err)
		}
	}
}

// state is the delivery's record after this batch. A record of a delivery that waits has no next attempt where a
// visibility timeout, which only SQS knows, or the endpoint decides when it comes.
func (e end) state(now time.Time) delivery.Record {
	name, _ := e.message.EventType() // checked when it was decoded
	r := delivery.Record{
		Ref: e.message.Ref, EventType: name, TraceID: e.message.Trace.TraceID(), State: delivery.Retrying,
		Attempts:   e.places(),
		LastStatus: e.outcome.Status, Reason: e.outcome.Reason,
		DurationMS: e.outcome.Elapsed.Milliseconds(), UpdatedAt: now,
	}
	switch e.outcome.Verdict {
	case delivery.VerdictAcknowledged:
		r.State = delivery.Acknowledged
	case delivery.VerdictDiscarded:
		r.State = delivery.Discarded
	case delivery.VerdictRetry:
		if e.move.To == delivery.ToBacklog {
			r.State = delivery.Waiting
		}
		if !e.move.Held && (e.from != delivery.DeliveryQueue || !e.returned()) { // else only SQS knows until when
			r.NextAttemptAt = e.move.Due
		}
	case delivery.VerdictDead:
	}
	return r
}

// observation is the batch's attempts to one endpoint.
type observation struct {
	key     dynamo.EndpointKey
	circuit circuit.Item
	results []circuit.Result
	seen    circuit.Seen // with the attempts of earlier batches that no write counted
}

// recordCircuits stores the attempts' changes of their endpoints' circuits. An endpoint that is and stays healthy
// costs nothing. A write that is lost costs time, never a delivery.
func (h *Handler) recordCircuits(ctx context.Context, ends []end) {
	var news []observation
	for _, o := range observed(ends) {
		// Version 0 means that nothing is stored for the endpoint. Successes change nothing about that.
		if o.circuit.Version == 0 && !slices.ContainsFunc(o.results, failed) {
			continue
		}
		var mayWrite bool
		o.seen, mayWrite = h.memory.count(o.key, o.seen, h.Now())
		if mayWrite || o.urgent() {
			news = append(news, o)
		}
	}
	if len(news) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, err := range parallel.Each(len(news), tableWrites, func(i int) error { return h.tell(ctx, news[i]) }) {
		if err != nil {
			h.reportCircuitLost(ctx, news[i].key, err)
		}
	}
}

// urgent reports whether a write is never too soon: of a probe, and of a 2xx that ends a run of failures.
// Otherwise a circuit would open over failures between which the endpoint answered.
func (o observation) urgent() bool {
	return slices.ContainsFunc(o.results, func(r circuit.Result) bool {
		return !r.Probe.IsZero() || r.OK && o.circuit.Failures > 0
	})
}

func failed(r circuit.Result) bool { return !r.OK }

// observed gathers the attempts by endpoint. Internal errors say nothing about an endpoint.
// All results of an endpoint are held against the circuit that the batch read before its attempts.
func observed(ends []end) []observation {
	of := map[dynamo.EndpointKey]int{}
	var all []observation
	for _, e := range ends {
		if !e.counts() {
			continue
		}
		n, found := of[e.key()]
		if !found {
			n = len(all)
			of[e.key()] = n
			all = append(all, observation{key: e.key(), circuit: e.reading.Circuit})
		}
		o, r := &all[n], e.result()
		o.results = append(o.results, r)
		o.seen.Tried++
		if r.OK {
			o.seen.OK++
		}
	}
	return all
}

// tell stores the change that an observation makes. If another process has written the item since it was read, tell
// applies the observation to what is stored now, once. The next batches leave the item alone for a while even if
// nothing was stored, because others are writing it or DynamoDB throttles it.
func (h *Handler) tell(ctx context.Context, o observation) error {
	now := h.Now()
	was := o.circuit
	for range 2 {
		next, store := was.Observe(h.Rules.Circuit, o.results, o.seen, now)
		if !store {
			return nil
		}
		h.memory.tried(o.key, now)
		stored, applied, err := h.Tables.Circuits.Store(ctx, was, next)
		if err != nil {
			return err
		}
		if applied {
			h.memory.written(o.key, now)
			return nil
		}
		// Another process wrote in between. The same results are applied to the item that it stored.
		was = stored
	}
	return nil // others write the item as well, with results like these
}
