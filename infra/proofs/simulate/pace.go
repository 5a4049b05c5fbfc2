package simulate

import (
	"fmt"
	"time"
)

// firstRun is the time in which the first run of release finds the deliveries that wait. Until then, the newest are
// sent as well.
const firstRun = 2 * time.Minute

func (p *Pace) of(w *world, h *hook) *pacedHook {
	if p.byHook == nil {
		p.byHook = map[string]*pacedHook{}
		p.Sent, p.Published = make([]int, w.scenario.Length/time.Second+1), make([]int, w.scenario.Length/time.Second+1)
	}
	if p.byHook[h.id] == nil {
		p.byHook[h.id] = &pacedHook{sent: make([]int, len(p.Sent))}
	}
	return p.byHook[h.id]
}

func (p *Pace) publishes(w *world, h *hook) {
	of := p.of(w, h)
	of.published++
	p.Published[min(int(w.now()/time.Second), len(p.Published)-1)]++
}

func (p *Pace) posts(w *world, h *hook, d *delivered) {
	of, now := p.of(w, h), w.now()
	second := min(int(now/time.Second), len(of.sent)-1)
	of.sent[second]++
	p.Sent[second]++
	p.Seconds = max(p.Seconds, of.sent[second])
	if now < calm+firstRun || d.attempted {
		return
	}
	p.Overtaken = max(p.Overtaken, of.newest-d.at())
	of.newest = max(of.newest, d.at())
}

// end reckons the means of the minutes in which deliveries wait: from the beginning of the flood to the minute in which
// the last ones are sent. Before release begins, an endpoint with a small limit gets less: a slot is lost where no
// delivery comes for a while.
func (p *Pace) end(w *world) {
	p.Least = float64(w.scenario.limit)
	for _, of := range p.byHook {
		left := of.published
		first := int(calm / time.Minute)
		for minute := first; (minute+1)*60 <= len(of.sent); minute++ {
			sent := 0
			for _, n := range of.sent[minute*60 : (minute+1)*60] {
				sent += n
			}
			left -= sent
			if left < w.scenario.limit*60 {
				break
			}
			p.Most = max(p.Most, float64(sent)/60)
			if minute > first || w.scenario.limit >= 10 {
				p.Least = min(p.Least, float64(sent)/60)
			}
		}
	}
}

// means are the least and the most of a minute, where there was a whole one.
func (p *Pace) means() string {
	if p.Most < p.Least {
		return "–"
	}
	return fmt.Sprintf("%.2f to %.2f", p.Least, p.Most)
}
