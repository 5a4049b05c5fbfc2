package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// The waits are 1, 2, 4 and 5 minutes.
func TestRun_probesUnderClaims(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held(hook, 30)
		w.store(hook, circuit.Open)
		began := time.Now()
		w.minutes(14)
		var after []time.Duration
		for _, m := range w.sent {
			after = append(after, m.At.Sub(began))
			if !m.Life.Probe.Equal(m.At.UTC()) || m.Delay != w.handler().Settings.Spread(hook) || m.Attempts != "5" {
				w.Errorf("sent %+v", m)
			}
		}
		want := []time.Duration{time.Minute, 3 * time.Minute, 7 * time.Minute, 12 * time.Minute}
		if diff := cmp.Diff(want, after); diff != "" {
			w.Errorf("probes (-want +got)\n%s", diff)
		}
		if got := w.circuits[hook]; !got.ProbedAt.Equal(w.sent[3].Life.Probe) || len(w.left(hook)) != 26 {
			w.Errorf("claimed %+v, %d wait", got, len(w.left(hook)))
		}
	})
}

func TestRun_sendsNoProbe(t *testing.T) {
	inWorlds(t, map[string]func(*world){
		"when its claim is refused": func(w *world) { w.refuse("Store") },
		"when another run has claimed one": func(w *world) {
			w.during("ReadShard", func(i *circuit.Item) { i.Version++ })
		},
		"of what waits for Retry-After": func(w *world) {
			for key, i := range w.waiting {
				i.NotBefore = time.Now().Add(time.Hour)
				w.waiting[key] = i
			}
		},
		"of what is discarded": func(w *world) {
			w.change(hook, func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = time.Now() })
		},
		"of what is over": func(w *world) {
			for key, i := range w.waiting {
				i.DueAt = time.Now()
				w.waiting[key] = i
			}
			w.refuse("Circuit")
		},
		"of what has used its last place": func(w *world) {
			for key, i := range w.waiting {
				i.Held, i.Message.Attempts, i.DueAt = false, 10, time.Now().Add(time.Hour)
				w.waiting[key] = i
			}
		},
		"to a paused endpoint": func(w *world) { w.change(hook, paused) },
	}, func(w *world, _ string, spoil func(*world)) {
		w.held(hook, 3)
		w.store(hook, circuit.Open)
		time.Sleep(time.Minute)
		spoil(w)
		w.run()
		if len(w.sent) != 0 || !w.circuits[hook].ProbedAt.IsZero() {
			w.Errorf("sent %+v, claimed %+v", w.sent, w.circuits[hook])
		}
	})
}

func TestRun_probesAtOnceWhenTheOwnerChangedTheEndpoint(t *testing.T) {
	inWorld(t, func(w *world) {
		w.held(hook, 2)
		w.store(hook, circuit.Open, func(i *circuit.Item) { i.Probes = 5 })
		time.Sleep(time.Second)
		w.run()
		if len(w.sent) != 0 {
			w.Fatal("probed too early")
		}
		w.change(hook, func(e *endpoint.Endpoint) { e.UpdatedAt = time.Now() })
		w.run()
		if len(w.sent) != 1 {
			w.Errorf("sent %+v", w.sent)
		}
	})
}
