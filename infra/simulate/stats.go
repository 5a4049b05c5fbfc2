package main

import (
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/health"
)

// stats is what a run has shown. Others are the endpoints that the scenario does not touch.
type stats struct {
	created, ended, twice int
	dead                  int
	done                  []uint64 // bits, by delivery

	first    histogram   // others: from DeliveryQueue to the first POST
	steady   histogram   // the same, from a minute after something happened
	late     []histogram // others, by hour: lateness of retries
	allLate  histogram   // affected: lateness of what their schedule sends
	diverted histogram   // of first attempts put off: from DeliveryQueue to the first POST
	firsts   [2]int      // first attempts of others and of affected
	diverts  [2]int      // of them put off

	inFlight, backlog int
	posts             []int // to affected endpoints, by hour
	opened            [2]int
	openedAt          time.Duration

	old      int // affected deliveries of before the end of the outage that have not ended
	waitedAt int // old when the outage ended
	firstOK  time.Duration
	caughtUp time.Duration
	stored   int // in the end, anywhere
	aws      calls
}

func (s *stats) start(w *world) {
	hours := int((w.scenario.length+w.scenario.patience)/time.Hour) + 2
	s.late, s.posts = make([]histogram, hours), make([]int, hours)
}

// which is 1 for endpoints that the scenario is about.
func (w *world) which(endpoint int32) int {
	if w.endpoints[endpoint].affected {
		return 1
	}
	return 0
}

func (s *stats) arrived(w *world, m message) {
	s.created++
	s.firsts[w.which(m.endpoint)]++
	for len(s.done) <= int(m.id/64) {
		s.done = append(s.done, make([]uint64, 1024)...)
	}
	if s.isOld(w, m) {
		s.old++
		s.waitedAt = s.old
	}
}

func (s *stats) isOld(w *world, m message) bool {
	return w.endpoints[m.endpoint].affected && m.created.duration() < w.scenario.up
}

func (s *stats) posting(w *world, m *mapping, t *task) {
	which := w.which(t.message.endpoint)
	if which == 1 {
		s.posts[t.begin/time.Hour]++
	}
	switch {
	case !t.message.posted:
		waited := t.begin - t.message.created.duration()
		if which == 0 {
			s.first.add(waited)
			if t.begin >= calm+time.Minute {
				s.steady.add(waited)
			}
		}
		if t.message.diverted {
			s.diverted.add(waited)
		}
	case t.message.due == 0:
	case which == 0:
		s.late[t.begin/time.Hour].add(t.begin - t.message.due.duration())
	default:
		s.allLate.add(t.begin - t.message.due.duration())
	}
	t.message.posted = true
	m.queue.Message(t.handle).posted = true
}

func (s *stats) acknowledged(w *world, t *task) {
	if w.which(t.message.endpoint) == 1 && w.scenario.up > 0 && w.now >= w.scenario.up && s.firstOK == 0 {
		s.firstOK = t.end
	}
	s.end(w, t.message)
	s.aws.writes += min(t.place, 2) // one that was retried leaves the index by endpoint, too
}

func (s *stats) died(w *world, m message) {
	s.dead++
	s.end(w, m)
	s.aws.writes += 2
}

func (s *stats) end(w *world, m message) {
	s.ended++
	if bit := uint64(1) << (m.id % 64); s.done[m.id/64]&bit != 0 {
		s.twice++
	} else {
		s.done[m.id/64] |= bit
	}
	if s.isOld(w, m) {
		if s.old--; s.old == 0 && w.now >= w.scenario.up {
			s.caughtUp = w.now
		}
	}
}

// waits counts what is put off, and the records that say that a delivery waits.
func (s *stats) waits(w *world, t *task) {
	if t.fate == divert {
		t.message.diverted = true
		s.diverts[w.which(t.message.endpoint)]++
	}
	if t.fate == unposted {
		return
	}
	s.aws.other++
	switch { // in 0.1.0 the index by endpoint moves with every retry
	case t.place == 1:
		s.aws.writes += 2
	case w.backlogs:
		s.aws.writes++
	default:
		s.aws.writes += 3
	}
}

func (s *stats) turned(w *world, endpoint int32, from, to health.State) {
	if to != health.Open || from == to {
		return
	}
	which := w.which(endpoint)
	if s.opened[which]++; which == 1 && s.openedAt == 0 {
		s.openedAt = w.now
	}
}

func (s *stats) batch(w *world, p *process) {
	s.aws.invocations++
	s.aws.sqs++
	s.aws.other++ // one read of endpoints and health
	s.aws.busy += p.end + after - w.now
	var known [10]int32
	distinct := known[:0]
	for i := range p.batch {
		if e := p.batch[i].message.endpoint; !slices.Contains(distinct, e) {
			distinct = append(distinct, e)
		}
	}
	s.aws.reads += len(distinct)
	if w.backlogs { // its health and its tenant's
		s.aws.halfReads += 2 * len(distinct)
	}
}

// settled counts the calls that a batch ends with.
func (s *stats) settled(m moved) {
	for _, n := range [3]int{m.deletes, m.sends, m.changes} {
		if n > 0 {
			s.aws.sqs++
		}
	}
	for _, n := range [2]int{m.acknowledged, m.puts} {
		if n > 0 {
			s.aws.other++
		}
	}
}

func (s *stats) finish(w *world) {
	s.stored = w.first.queue.Stored() + w.retries.queue.Stored() + w.store.n
	for _, p := range w.first.processes {
		for _, t := range p.batch {
			if t.sent { // it is on both queues until its batch ends
				s.stored--
			}
		}
	}
}

// lost is how many deliveries have neither ended nor wait anywhere.
func (s *stats) lost() int { return s.created - s.ended - s.stored }

// worstLate is the worst p99 of an hour, with its hour, and the median of the hours' p99.
func (s *stats) worstLate() (worst time.Duration, hour int, median time.Duration) {
	var all []time.Duration
	for n := range s.late {
		if s.late[n].n == 0 {
			continue
		}
		p99 := s.late[n].quantile(0.99)
		all = append(all, p99)
		if p99 > worst {
			worst, hour = p99, n
		}
	}
	if len(all) == 0 {
		return 0, 0, 0
	}
	slices.Sort(all)
	return worst, hour, all[len(all)/2]
}
