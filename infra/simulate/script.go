package main

import (
	"math"
	"time"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

// script leaves nothing to chance: it says what is published, what receivers answer and how long waits
// are. The same script can be played to the handlers themselves.
type script struct {
	schedule retry.Schedule
	arrivals []arrival // in order
	jitter   float64   // of all waits
	answer   func(posting) answer
	turned   func(turn)
}

// arrival is an event for one endpoint.
type arrival struct {
	at       time.Duration
	endpoint int32
}

// posting is one POST.
type posting struct {
	endpoint int32
	id       int
	at       time.Duration
}

// turn is a change of what is stored of an endpoint's health.
type turn struct {
	endpoint int32
	at       time.Duration
	from, to health.Item
}

// never is later than everything.
const never = time.Duration(math.MaxInt64)

// upcoming is when event n is published, of which 0 is the first: after now.
func (w *world) upcoming(n int) time.Duration {
	s := w.scenario.script
	switch {
	case s == nil:
		return w.now + w.gap()
	case n < len(s.arrivals):
		return s.arrivals[n].at
	}
	return never
}

// receiver draws the endpoint that the next event is for.
func (w *world) receiver() int32 {
	s := w.scenario
	switch {
	case s.script != nil:
		return s.script.arrivals[w.stats.created].endpoint
	case w.random.Float64() < s.share:
		return w.busy[w.random.IntN(len(w.busy))]
	}
	return int32(len(w.busy) + w.random.IntN(s.others)) //nolint:gosec // thousands
}

// answered draws the answer to a POST.
func (w *world) answered(t *task) answer {
	switch e := &w.endpoints[t.message.endpoint]; {
	case w.scenario.script != nil:
		return w.scenario.script.answer(posting{t.message.endpoint, int(t.message.id), t.begin})
	case e.answer != nil:
		return e.answer(w)
	}
	return w.healthy()
}

// jitter is by how much a wait is longer than its schedule says.
func (w *world) jitter() float64 {
	if s := w.scenario.script; s != nil {
		return s.jitter
	}
	return w.random.Float64()
}

// schedule is the product's default, unless the script says otherwise.
func (s *scenario) schedule() retry.Schedule {
	if s.script != nil {
		return s.script.schedule
	}
	return schedule
}
