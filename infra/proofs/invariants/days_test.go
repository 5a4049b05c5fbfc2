package invariants

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const hook = "webhook_1"

// ending is the fate of the deliveries to webhook_1, and the time that it took after the day was over.
type ending struct {
	Delivered, Dead, Discarded int
	Twice                      int // POSTs of deliveries that were answered 2xx before
	Within                     time.Duration
}

// forbid refuses calls with one of these names at the beginning of their text, until end is called.
func (w *world) forbid(names ...string) (end func()) {
	w.judgeBy(func(c *call) verdict {
		for _, name := range names {
			if strings.HasPrefix(c.String()[len(c.Process.Name)+2:], name) {
				return model.Refused
			}
		}
		return model.Done
	})
	return func() { w.judgeBy(nil) }
}

func (w *world) pass(d time.Duration) { w.run(d, func() bool { return false }) }

// waits has so many deliveries wait for the endpoint.
func (w *world) waits(n int) {
	for range n {
		w.held(hook, 0)
		time.Sleep(time.Second)
	}
}

// openFor makes the endpoint open, with deliveries that wait for it, for a while.
func (w *world) openFor(d time.Duration) {
	w.own(hook, 500)
	w.have(open(hook))
	w.waits(10)
	w.pass(d)
}

// recovering has deliveries wait for an endpoint that answers again.
func (w *world) recovering(n int) {
	w.own(hook, 200)
	for range n {
		w.held(hook, 0)
	}
	time.Sleep(time.Second)
	w.have(circuit.Item{EndpointID: hook, State: circuit.Recovering})
	i := w.Circuits[hook]
	i.Since = time.Now()
	w.Circuits[hook] = i
}

// days are those of the table "Bad input and bad days". Each ends with receivers that answer 200.
var days = map[string]struct {
	day  func(w *world)
	want ending
}{
	"release is down for an hour": {
		day: func(w *world) {
			w.own(hook, 200)
			for n := range 60 {
				w.due(hook, time.Duration(n)*time.Minute)
			}
			defer w.forbid("Lambda")()
			w.pass(time.Hour)
		},
		want: ending{Delivered: 60, Within: 2 * time.Minute},
	},
	"Backlog cannot be written": {
		day: func(w *world) {
			w.own(hook, 500)
			w.retried(hook, 5)
			w.retried(hook, 1)
			w.publish(hook)
			defer w.forbid("Put Backlog", "Delete Backlog", "Put back")()
			w.pass(time.Hour)
		},
		want: ending{Delivered: 3, Within: 15 * time.Minute},
	},
	"EndpointHealth cannot be read": {
		day: func(w *world) {
			w.own(hook, 200)
			w.publish(hook)
			w.due(hook, time.Minute)
			w.have(circuit.Item{EndpointID: hook})
			w.held(hook, 0)
			defer w.forbid("Read EndpointHealth", "Scan EndpointHealth")()
			w.pass(10 * time.Minute)
		},
		want: ending{Delivered: 3, Within: 3 * time.Minute},
	},
	"one shard of Backlog is throttled": {
		day: func(w *world) {
			w.recovering(16)
			defer w.forbid("Read Backlog(" + hook + "#3)")()
			w.pass(10 * time.Minute)
		},
		want: ending{Delivered: 16, Within: 4 * time.Minute},
	},
	"an endpoint is deleted and restored while something waits for it": {
		day: func(w *world) {
			w.openFor(10 * time.Minute)
			w.owner(hook, endpoint.Deleted)
			w.pass(5 * time.Minute)
			w.owner(hook, endpoint.Active)
			w.publish(hook)
		},
		want: ending{Delivered: 1, Discarded: 10, Within: time.Minute},
	},
	"an event is unsubscribed and subscribed again while something waits": {
		day: func(w *world) {
			w.openFor(10 * time.Minute)
			w.subscribe(hook, narrow)
			w.pass(11 * time.Minute)
			w.subscribe(hook, "*")
			w.publish(hook)
		},
		want: ending{Delivered: 1, Discarded: 10, Within: 5 * time.Minute},
	},
	"an event is unsubscribed, and its endpoint disabled until its life is over": {
		day: func(w *world) {
			w.own(hook, 200)
			w.owner(hook, endpoint.Disabled)
			w.publish(hook)
			w.pass(time.Hour)
			w.subscribe(hook, narrow)
			w.pass(8 * 24 * time.Hour)
		},
		want: ending{Discarded: 1},
	},
	"an operator discards what waits, and an event comes since": {
		day: func(w *world) {
			w.openFor(10 * time.Minute)
			w.control("discard", hook)
			w.publish(hook)
		},
		want: ending{Delivered: 1, Discarded: 10, Within: 4 * time.Minute},
	},
	"another pattern still selects what waits": {
		day: func(w *world) {
			w.openFor(10 * time.Minute)
			w.subscribe(hook, "user.*")
		},
		want: ending{Delivered: 10, Within: 5 * time.Minute},
	},
	"the URL changes while it is open": {
		day: func(w *world) {
			w.openFor(30 * time.Minute)
			w.edit(hook, func(e *endpoint.Endpoint) { e.URL = "https://elsewhere.example/" + hook })
		},
		want: ending{Delivered: 10, Within: 4 * time.Minute},
	},
	"down for six days": {
		day: func(w *world) {
			w.own(hook, 503)
			for range 24 {
				w.publish(hook)
				w.pass(6 * time.Hour)
			}
		},
		want: ending{Delivered: 24, Within: 10 * time.Minute},
	},
	"disabled for six days": {
		day: func(w *world) {
			w.own(hook, 200)
			w.owner(hook, endpoint.Disabled)
			for range 24 {
				w.publish(hook)
				w.pass(6 * time.Hour)
			}
		},
		want: ending{Delivered: 24, Within: 5 * time.Minute},
	},
	"paused for eight days": {
		day: func(w *world) {
			w.own(hook, 200)
			w.control("pause", hook)
			for range 8 {
				w.publish(hook)
				w.pass(24 * time.Hour)
			}
		},
		want: ending{Delivered: 6, Dead: 2, Within: 5 * time.Minute},
	},
}

// On every bad day nothing is lost, and when it is over everything ends in the time that is said.
func TestBadDays(t *testing.T) {
	t.Parallel()
	for name, row := range days {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				row.day(w)
				w.heal()
				from := time.Now()
				if !w.run(row.want.Within, w.idle) {
					t.Errorf("not over after %s: %s", time.Since(from), w.left())
				}
				got := ending{Within: row.want.Within}
				w.tally(&got)
				if diff := cmp.Diff(row.want, got); diff != "" || len(w.broken) > 0 {
					t.Errorf("%v (-want +got)\n%s\n%s", w.broken, diff, strings.Join(w.history, "\n"))
				}
			})
		})
	}
}

func (w *world) tally(e *ending) {
	for l, about := range w.truth {
		switch {
		case about.acked:
			e.Delivered++
		case !w.Deaths[l].IsZero():
			e.Dead++
		case w.States[l.ID].State == delivery.Discarded:
			e.Discarded++
		}
	}
	taken := map[string]bool{}
	for _, p := range w.posts {
		if taken[p.delivery] {
			e.Twice++
		}
		taken[p.delivery] = taken[p.delivery] || p.status == 200
	}
}

// release finds nothing that waits for a deleted endpoint. It is restored before release says so, and a batch
// holds under the item that is still there: release still finds that.
func TestBadDays_aBatchHoldsForARestoredEndpoint(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]func(w *world){
		"open":     func(w *world) { w.have(open(hook)) },
		"disabled": func(w *world) { w.have(circuit.Item{EndpointID: hook}) },
		"its tenant is paused": func(w *world) {
			w.have(circuit.Item{EndpointID: hook})
			w.control("pause", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &walker{world: newWorld()}
				w.own(hook, 500)
				given(w.world)
				w.owner(hook, endpoint.Deleted)
				time.Sleep(5 * time.Minute)
				w.judgeBy(w.only("Put Backlog", "Write EndpointHealth"))
				w.start("release runs", (*process).Release)
				w.waiting() // the removal
				back := endpoint.Active
				if name == "disabled" {
					back = endpoint.Disabled
				}
				w.owner(hook, back)
				w.retried(hook, 5)
				w.batchOf(w.RetryQueue)
				w.finish(inOrder)
				w.drain()
				w.mustHold(t, name)
			})
		})
	}
}

// only gates calls with these names, and has all others done.
func (w *walker) only(names ...string) func(*call) verdict {
	return func(c *call) verdict {
		for _, name := range names {
			if c.Name == name {
				return w.gate(c)
			}
		}
		return model.Done
	}
}

// A batch that began under a pause holds when the pause is over and release has found nothing that waits:
// release still finds it, be it late.
func TestBadDays_aBatchHoldsBehindThePause(t *testing.T) {
	t.Parallel()
	for _, v := range []verdict{model.Done, model.Late, model.StalledBut, model.CrashedBut} {
		synctest.Test(t, func(t *testing.T) {
			w := &walker{world: newWorld()}
			w.own(hook, 200)
			w.pausedBefore(hook)
			w.retried(hook, 5)
			w.judgeBy(w.only("Put Backlog"))
			w.batchOf(w.RetryQueue)
			puts := w.waiting()
			w.control("resume", hook)
			w.process("two").Release()
			puts[0].grant <- v
			w.finish(inOrder)
			w.drain()
			w.mustHold(t, v.String())
		})
	}
}
