package main

import (
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/health"
)

// notes is what processes share about endpoints that hold them up.
type notes struct {
	world *world
	list  []health.Note
	marks []mark
}

func (n *notes) any() bool { return len(n.list) > 0 }

// readNotes reads them once a second.
func (w *world) readNotes(p *process) {
	if w.now-p.read < time.Second || w.scenario.tablesRefuse(w.now) {
		return
	}
	p.read = w.now
	w.stats.aws.halfReads++
	w.stats.aws.other++
	if !w.backlogs {
		p.marked = w.notes.readMarks(w.now)
		return
	}
	p.slow = health.NewSlow(health.SlowSettings{
		Self: p.name, Limit: health.SlowLimit(concurrency), Wait: time.Minute, Longest: time.Hour,
		Apart: attemptTimeout * 2 / 3,
	}, w.notes.list, w.since(p.begin))
}

// noteBatch notes the endpoints whose attempts still go on.
func (w *world) noteBatch(e event) {
	p := &e.on.processes[e.process]
	if p.number != e.number || w.scenario.tablesRefuse(w.now) {
		return
	}
	for i := range p.batch {
		t := &p.batch[i]
		if t.fate != post || t.end <= w.now || slices.Contains(p.noted, t.message.endpoint) {
			continue
		}
		p.noted = append(p.noted, t.message.endpoint)
		w.stats.aws.writes++
		w.stats.aws.other++
		if !w.backlogs {
			w.notes.mark(t.message.endpoint, p.name, w.now)
			continue
		}
		w.notes.list = append(w.notes.list, health.Note{
			EndpointID: w.name(t.message.endpoint), Queue: e.on.name, Process: p.name,
			Until: w.since(p.begin + functionTimeout - 2*time.Second),
		})
	}
}

// dropNotes takes back the notes of a batch whose attempts have ended, or leaves what remains of
// them.
func (w *world) dropNotes(m *mapping, p *process) {
	if !w.backlogs || len(p.noted) == 0 {
		return
	}
	w.stats.aws.writes += len(p.noted)
	w.stats.aws.other += len(p.noted)
	kept := w.notes.list[:0]
	for _, n := range w.notes.list {
		remains := n.Until.After(w.time())
		if n.Process == p.name && n.Queue == m.name && w.noted(p, n.EndpointID) {
			n, remains = n.After(p.held(n.EndpointID, w), attemptTimeout, w.time())
		}
		if remains {
			kept = append(kept, n)
		}
	}
	w.notes.list = kept
}

func (w *world) noted(p *process, endpointID string) bool {
	return slices.ContainsFunc(p.noted, func(e int32) bool { return w.name(e) == endpointID })
}

// held is how long the longest attempt to the endpoint has taken.
func (p *process) held(endpointID string, w *world) (longest time.Duration) {
	for i := range p.batch {
		if t := &p.batch[i]; t.fate == post && w.name(t.message.endpoint) == endpointID {
			longest = max(longest, t.end-t.begin)
		}
	}
	return longest
}
