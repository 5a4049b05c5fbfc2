package invariants

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

const hook = "webhook_1"

// ending is what became of the deliveries to webhook_1, and how long it took after the day was over.
type ending struct {
	Delivered, Dead, Discarded int
	Twice                      int // POSTs of what was answered 2xx before
	Within                     time.Duration
	Refusals                   string
}

// forbid refuses calls of some names for as long as it is said.
func (w *world) forbid(names ...string) (end func()) {
	w.judgeBy(func(c *call) verdict {
		for _, name := range names {
			if strings.HasPrefix(c.String()[len(c.process.name)+1:], name) {
				return refused
			}
		}
		return done
	})
	return func() { w.judgeBy(nil) }
}

func (w *world) pass(d time.Duration) { w.run(d, func() bool { return false }) }

// wait parks so many deliveries under the endpoint's circuit.
func (w *world) wait(n int) {
	for range n {
		w.parked(hook, 0, true, nil)
		time.Sleep(time.Second)
	}
}

// openFor makes the endpoint open, with deliveries that wait for it, for a while.
func (w *world) openFor(d time.Duration) {
	w.own(hook, 500)
	w.have(w.open(hook))
	w.wait(10)
	w.pass(d)
}

// recovering has deliveries wait for an endpoint that answers again.
func (w *world) recovering(n int) {
	w.own(hook, 200)
	w.have(health.Item{EndpointID: hook, State: health.Recovering, Held: true})
	w.wait(n)
}

// edited is a day on which the owner changes an endpoint that is open.
func edited(change func(*endpoint.Endpoint)) func(*world) string {
	return func(w *world) string {
		w.openFor(30 * time.Minute)
		w.edit(hook, change)
		return ""
	}
}

// days are those of the table "Bad input and bad days". Each ends with receivers that answer 200.
var days = map[string]struct {
	day  func(w *world) (refusals string)
	want ending
}{
	"release is down for an hour": {
		day: func(w *world) string {
			w.own(hook, 200)
			for n := range 60 {
				w.parked(hook, time.Duration(n)*time.Minute, false, nil)
			}
			w.refuseBy(func(string) bool { return true }) // no invocation
			w.pass(time.Hour)
			return ""
		},
		want: ending{Delivered: 60, Within: 2 * time.Minute},
	},
	"Backlog cannot be written": {
		day: func(w *world) string {
			w.own(hook, 500)
			w.retried(hook, 5, nil)
			w.retried(hook, 1, nil)
			w.publish(hook)
			defer w.forbid("Put Backlog", "Delete Backlog", "Redate Backlog")()
			w.pass(time.Hour)
			return ""
		},
		want: ending{Delivered: 3, Within: 15 * time.Minute},
	},
	"EndpointHealth cannot be read": {
		day: func(w *world) string {
			w.own(hook, 200)
			w.publish(hook)
			w.parked(hook, time.Minute, false, nil)
			w.have(health.Item{EndpointID: hook, State: health.Recovering, Held: true})
			w.parked(hook, 0, true, nil)
			defer w.forbid("Read EndpointHealth", "Scan EndpointHealth")()
			w.pass(10 * time.Minute)
			return ""
		},
		want: ending{Delivered: 3, Within: 3 * time.Minute},
	},
	"one shard of Backlog is throttled": {
		day: func(w *world) string {
			w.recovering(16)
			defer w.forbid("Read Backlog(" + hook + "#3)")()
			w.pass(10 * time.Minute)
			return ""
		},
		want: ending{Delivered: 16, Within: 4 * time.Minute},
	},
	"both copies of a duplicate are parked": {
		day: func(w *world) string {
			w.own(hook, 200)
			w.have(health.Item{EndpointID: hook, Paused: true, Held: true})
			w.retried(hook, 5, nil)
			w.retries.duplicate()
			records := w.retries.receive()
			for n := range records { // a batch each
				w.process("one", rand.New(rand.NewPCG(1, 1))).batch(w.retries, records[n:n+1])
			}
			w.control("resume", hook)
			return ""
		},
		want: ending{Delivered: 1, Twice: 1, Within: 3 * time.Minute},
	},
	"an endpoint is deleted and restored while something waits for it": {
		day: func(w *world) string {
			w.openFor(10 * time.Minute)
			w.edit(hook, func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, time.Now() })
			w.pass(5 * time.Minute)
			w.edit(hook, func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Active, time.Time{} })
			w.publish(hook)
			return ""
		},
		want: ending{Delivered: 1, Discarded: 10, Within: time.Minute},
	},
	"the URL changes while it is open": {
		day:  edited(func(e *endpoint.Endpoint) { e.URL = "https://elsewhere.example/" + hook }),
		want: ending{Delivered: 10, Within: 4 * time.Minute},
	},
	"the secret is rotated while it is open": {
		day:  edited(func(e *endpoint.Endpoint) { e.SecretVersion++; e.SecretRotatedAt = time.Now() }),
		want: ending{Delivered: 10, Within: 4 * time.Minute},
	},
	"its tenant is paused while it recovers": {
		day: func(w *world) string {
			w.recovering(200)
			w.pass(time.Minute)
			said := w.control("pause", "")
			w.pass(time.Minute) // what is on its way is parked
			before := len(w.posts)
			w.pass(time.Hour)
			if len(w.posts) != before {
				said += " posts under a pause"
			}
			return said + w.control("resume", "")
		},
		want: ending{Delivered: 200, Within: 6 * time.Minute},
	},
	"discard while items are in flight": {
		day: func(w *world) string {
			w.recovering(5)
			w.retried(hook, 1, nil)
			w.publish(hook)
			time.Sleep(time.Second)
			w.process("one", rand.New(rand.NewPCG(1, 1))).tick() // sends all five, spread over a minute
			said := w.control("discard", hook)
			time.Sleep(time.Second)
			w.publish(hook)
			return said
		},
		want: ending{Delivered: 1, Discarded: 7, Within: 4 * time.Minute},
	},
	"an operator resumes what is not paused": {
		day: func(w *world) string {
			w.own(hook, 200)
			w.publish(hook)
			return w.control("resume", hook) + " " + w.control("pause", hook) + w.control("pause", hook) + " " +
				w.control("release", hook) + w.control("resume", hook)
		},
		want: ending{Delivered: 1, Within: 3 * time.Minute, Refusals: "not_paused already_paused paused"},
	},
}

// On every bad day nothing is lost, and when it is over everything ends in the time that is said.
func TestBadDays(t *testing.T) {
	for name, row := range days {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				got := ending{Refusals: row.day(w)}
				w.heal()
				from := time.Now()
				if !w.run(row.want.Within, w.over) {
					t.Errorf("not over after %s: %s", time.Since(from), w.left())
				}
				got.Within = row.want.Within
				for l, about := range w.truth {
					switch {
					case about.acked:
						got.Delivered++
					case !w.sealed[l].IsZero():
						got.Dead++
					case w.states[l.id].State == delivery.Discarded:
						got.Discarded++
					}
				}
				taken := map[string]bool{}
				for _, p := range w.posts {
					if taken[p.delivery] {
						got.Twice++
					}
					taken[p.delivery] = taken[p.delivery] || p.status == 200
				}
				if diff := cmp.Diff(row.want, got); diff != "" || len(w.broken) > 0 {
					t.Errorf("%v (-want +got)\n%s\n%s", w.broken, diff, strings.Join(w.history, "\n"))
				}
			})
		})
	}
}

// release finds nothing that waits for a deleted endpoint. It is restored before release says so, and a batch
// holds under the item that is still there: what it holds is found all the same.
func TestBadDays_aBatchHoldsForWhatIsRestoredMeanwhile(t *testing.T) {
	for name, given := range map[string]func(w *world){
		"open":     func(w *world) { w.have(w.open(hook)) },
		"disabled": func(w *world) { w.have(health.Item{EndpointID: hook, State: health.Disabled, Held: true}) },
		"its tenant is paused": func(w *world) {
			w.have(health.Item{EndpointID: hook, Held: true})
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
				w.judgeBy(func(c *call) verdict {
					if c.name == "Put Backlog" || c.name == "Write EndpointHealth" {
						return w.gate(c)
					}
					return done
				})
				w.start("release runs", (*process).tick)
				removal := w.waiting()
				back := endpoint.Active
				if name == "disabled" {
					back = endpoint.Disabled
				}
				w.owner(hook, back)
				w.retried(hook, 5, nil)
				w.batchOf(w.retries)
				calls := w.waiting()
				removal[0].grant <- done
				for _, c := range calls {
					if c != removal[0] {
						c.grant <- done
					}
				}
				time.Sleep(timeout)
				synctest.Wait()
				if w.held() != 1 {
					t.Errorf("%d are held", w.held())
				}
				w.settle()
				w.mustHold(t, name)
			})
		})
	}
}

// A batch that began under a pause parks when the pause is over and release has found nothing that
// waits: what it parks is found all the same, be it late.
func TestBadDays_aBatchParksBehindThePause(t *testing.T) {
	for _, v := range []verdict{done, late, stalledBut, crashedBut} {
		synctest.Test(t, func(t *testing.T) {
			w := &walker{world: newWorld()}
			w.own(hook, 200)
			w.have(health.Item{EndpointID: hook, Paused: true, Held: true})
			w.retried(hook, 5, nil)
			w.judgeBy(func(c *call) verdict {
				if c.name == "Put Backlog" {
					return w.gate(c)
				}
				return done
			})
			w.batchOf(w.retries)
			puts := w.waiting()
			w.control("resume", hook)
			w.process("two", rand.New(rand.NewPCG(1, 1))).tick()
			puts[0].grant <- v
			time.Sleep(timeout)
			synctest.Wait()
			w.settle()
			w.mustHold(t, v.String())
		})
	}
}
