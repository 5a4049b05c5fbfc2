package simulate

import "time"

// A busy scenario has three parts: the others alone, the attack, and some time for its consequences.
const (
	busyFrom   = 5 * time.Second
	busyMinute = time.Minute
	busyAfter  = 15 * time.Second
	busyHooks  = 50
	batchSize  = 10
)

func (b *Busy) first(created, begun time.Duration) {
	if len(b.seconds) > 0 {
		b.seconds[min(int(created/time.Second), len(b.seconds)-1)].add(begun - created)
	}
}

// begin prepares the figures, and notes the moment when all attackers are slow.
func (b *Busy) begin(w *world) {
	if w.scenario.Kind != Swept {
		return
	}
	b.seconds = make([]bin, w.scenario.Length/time.Second+1)
	go func() {
		for w.now() < w.scenario.Length {
			w.Mu.Lock()
			fast := w.fast()
			if fast == 0 && b.SlowAfter == 0 {
				b.SlowAfter = w.now() - busyFrom
			}
			w.Mu.Unlock()
			time.Sleep(time.Second / 10)
		}
	}()
}

// end reckons the figures. A delivery without an attempt counts as late if it was created more than a second ago.
func (b *Busy) end(w *world) {
	if w.scenario.Kind != Swept {
		return
	}
	for _, d := range w.stats.created {
		if d.role == other && !d.attempted && w.now()-d.at() > late {
			b.first(d.at(), w.now())
		}
	}
	var all, last bin
	for n, second := range b.seconds {
		all.Late += second.Late
		at := time.Duration(n)*time.Second - busyFrom
		if at >= w.scenario.attacked*2/3 && at < w.scenario.attacked {
			last.First, last.Late = last.First+second.First, last.Late+second.Late
		}
	}
	b.Seconds, b.Fast = float64(all.Late)/w.scenario.Rate, w.fast()
	b.Going = float64(last.Late) / float64(max(last.First, 1))
	if charges := w.Used["Charge"]; charges != nil {
		b.Writes = float64(charges.Requests) / w.scenario.attacked.Seconds()
	}
}
