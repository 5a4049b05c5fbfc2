package simulate

import (
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/proofs/cost"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// published gives a delivery its number.
func (s *stats) published(w *world, h *hook) int {
	d := delivered{millis: uint32(w.now() / time.Millisecond), role: h.role} //nolint:gosec // 49 days
	s.created = append(s.created, d)
	if w.scenario.limit > 0 && h.role == subject {
		s.Pace.publishes(w, h)
	}
	if w.isOld(&d) {
		s.Left++
	}
	return len(s.created) - 1
}

// isOld reports whether the outage ends for the delivery only when it has caught up.
func (w *world) isOld(d *delivered) bool {
	return w.scenario.up > 0 && d.at() < w.scenario.up && (w.scenario.tenants == 0 || d.role == subject)
}

func (s *stats) posted(w *world, h *hook, n int, a answer) {
	now, d := w.now(), &s.created[n]
	if h.role == subject {
		s.Posts++
		s.Shares.posts(w, h)
		if w.scenario.limit > 0 {
			s.Pace.posts(w, h, d)
		}
	}
	if !d.attempted {
		d.attempted = true
		s.first(w, h, d.at(), now)
	}
	if a.Status/100 != 2 || a.Took >= model.AttemptTimeout {
		return
	}
	if h.role == subject && w.scenario.up > 0 && now >= w.scenario.up && !s.known {
		s.known, s.FirstOK = true, now-w.scenario.up
	}
	if d.acked {
		s.Twice++
		return
	}
	d.acked = true
	s.ends(w, d)
}

// first notes the first attempt of a delivery to the scenario's subjects or to the others. Where the scenario has
// attackers, their first minute does not count.
func (s *stats) first(w *world, h *hook, created, begun time.Duration) {
	switch {
	case h.role == attacker, w.scenario.against.tenants > 0 && created < calm:
	case h.role == subject && !w.scenario.all:
		if s.own[h.tenant] == nil {
			s.own[h.tenant] = &histogram{}
		}
		s.own[h.tenant].add(begun - created)
	default:
		s.Bins[min(int(created/binLength), len(s.Bins)-1)].add(begun - created)
		s.Busy.first(created, begun)
	}
}

func (s *stats) died(w *world, n int) {
	d := &s.created[n]
	if d.dead {
		return
	}
	d.dead = true
	s.Deaths++
	if !d.acked {
		s.ends(w, d)
	}
}

func (s *stats) ends(w *world, d *delivered) {
	if w.isOld(d) {
		if s.Left--; s.Left == 0 && w.now() >= w.scenario.up {
			s.CaughtUp = w.now() - w.scenario.up
		}
	}
}

func (s *stats) sample(w *world) {
	s.Samples = append(s.Samples, Sample{len(w.Backlog.Items), s.Posts, s.Left})
	for _, m := range w.members {
		s.Slow = s.Slow || m.hooks[0].role == subject && w.slow(m.hooks[0].tenant)
	}
}

func (w *world) result() Result {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.stats.sample(w)
	w.stats.Busy.end(w)
	w.stats.Pace.end(w)
	w.stats.Shares.end()
	if w.scenario.Kind == Dying {
		w.stats.Overdue = w.overdue()
	}
	s, million := &w.stats, float64(max(len(w.stats.created), 1))/1e6
	requests, dollars := cost.Modelled(w.Used, w.maps, s.runs)
	f := s.Figures
	f.Created = len(s.created)
	f.WorstDay = worstDay(s.Bins)
	f.Lost = w.lost()
	f.RetriesP99, f.Wrongly = s.retries.quantile(0.99), w.wrongly()
	for _, own := range s.own {
		f.OwnP99 = max(f.OwnP99, own.quantile(0.99))
	}
	f.InFlight, f.Backlog = w.RetryQueue.PeakInFlight+w.SlowQueue.PeakInFlight, w.Backlog.Peak
	f.Requests, f.Dollars = float64(requests)/million/1000, dollars/million
	return Result{w.scenario, f}
}

// worstDay is the worst share of any 24 hours, or of the whole time if that is shorter.
func worstDay(bins []bin) (share float64) {
	width := min(int(day/binLength), len(bins))
	for from := 0; from+width <= len(bins); from++ {
		var sum bin
		for _, b := range bins[from : from+width] {
			sum.First, sum.Late = sum.First+b.First, sum.Late+b.Late
		}
		if sum.First > 0 {
			share = max(share, float64(sum.Late)/float64(sum.First))
		}
	}
	return share
}

// lost is how many deliveries were neither delivered nor died, and wait nowhere.
func (w *world) lost() (lost int) {
	here := make([]bool, len(w.stats.created))
	for _, q := range w.Queues() {
		q.Each(func(m events.SQSMessage, _ time.Duration, _ int) { here[numberOf(m.Body)] = true })
	}
	for _, i := range w.Backlog.Items {
		here[numberOf(string(i.Message.Body))] = true
	}
	for n, d := range w.stats.created {
		if !d.acked && !d.dead && !here[n] {
			lost++
		}
	}
	return lost
}
