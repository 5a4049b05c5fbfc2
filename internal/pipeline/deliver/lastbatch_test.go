package deliver

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// batch is ten deliveries, made by make.
func batch(named string, make func(event string) events.SQSMessage) (all []events.SQSMessage) {
	for n := range 10 {
		all = append(all, make(fmt.Sprint(named, n)))
	}
	return all
}

// A batch of ten keeps a process for 2.9 s; the batch behind it shows whether others waited for it.
func TestHandler_Process_chargesWhoKeptTheProcessWhileOthersWaited(t *testing.T) {
	const took = 2900 * time.Millisecond
	replayed := func(w *rig, event string) events.SQSMessage {
		m := message(event, "webhook_1")
		m.Replay = 1
		return w.on("delivery", 1, m)
	}
	for name, c := range map[string]struct {
		from   string // queue of the batch before
		idle   time.Duration
		behind func(w *rig, n int) events.SQSMessage // the batch behind
		want   time.Duration                         // of ten attempts of 2.9 s, beyond 3 s
	}{
		"all of it waited": {
			behind: func(w *rig, n int) events.SQSMessage { return w.fresh(fmt.Sprint("b", n), "webhook_2") },
			want:   26 * time.Second,
		},
		"half of it waited": {
			behind: func(w *rig, n int) events.SQSMessage {
				r := w.fresh(fmt.Sprint("b", n), "webhook_2")
				if n%2 == 0 {
					r.Attributes = sentAgo(0)
				}
				return r
			},
			want: 11500 * time.Millisecond,
		},
		"it waited for a second": {
			behind: func(w *rig, n int) events.SQSMessage {
				r := w.fresh(fmt.Sprint("b", n), "webhook_2")
				r.Attributes = sentAgo(time.Second)
				return r
			},
		},
		"it was sent when the process was free": {
			idle: time.Minute,
			behind: func(w *rig, n int) events.SQSMessage {
				r := w.fresh(fmt.Sprint("b", n), "webhook_2")
				r.Attributes = sentAgo(2 * time.Second)
				return r
			},
		},
		"retries that were sent when they were due may have waited for another reason": {
			from:   "retry",
			behind: func(w *rig, n int) events.SQSMessage { return w.retried(fmt.Sprint("b", n), "webhook_2", 1) },
		},
		"retries that were sent ahead waited for a process": {
			from:   "retry",
			behind: func(w *rig, n int) events.SQSMessage { return ahead(w, n, time.Millisecond) },
			want:   26 * time.Second,
		},
		"SQS delays retries by whole seconds": {
			from:   "retry",
			behind: func(w *rig, n int) events.SQSMessage { return ahead(w, n, 900*time.Millisecond) },
		},
		"retries waited for a batch of another queue": {
			behind: func(w *rig, n int) events.SQSMessage { return ahead(w, n, time.Millisecond) },
		},
		"replays wait for other reasons": {
			behind: func(w *rig, n int) events.SQSMessage { return replayed(w, fmt.Sprint("b", n)) },
		},
		"a second receive waits for other reasons": {
			behind: func(w *rig, n int) events.SQSMessage {
				return w.on("delivery", 2, message(fmt.Sprint("b", n), "webhook_2"))
			},
		},
		"the batch before was of SlowQueue": {
			from:   "slow",
			behind: func(w *rig, n int) events.SQSMessage { return w.fresh(fmt.Sprint("b", n), "webhook_2") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, answersAfter(took), func(w *rig) {
				h := w.handler()
				w.processBy(h, batch("a", func(event string) events.SQSMessage {
					r := w.fresh(event, "webhook_1")
					if c.from != "" {
						r.EventSourceARN = c.from
					}
					return r
				})...)
				time.Sleep(c.idle)
				began := time.Now()
				var behind []events.SQSMessage
				for n := range 10 {
					behind = append(behind, c.behind(w, n))
				}
				w.processBy(h, behind...)
				if charged := w.chargedSince(began); charged != c.want {
					w.Errorf("charged %s, want %s", charged, c.want)
				}
			})
		})
	}
}

// ahead is a retry that was sent at the beginning and due so long after it.
func ahead(w *rig, n int, due time.Duration) events.SQSMessage {
	m := message(fmt.Sprint("b", n), "webhook_2")
	m.Attempts, m.Life = 1, delivery.Life{StartedAt: w.born, DueAt: w.born.Add(due)}
	return w.on("retry", 1, m)
}

// sentAgo are SQS's attributes of a message that was sent so long ago and is received for the first time.
func sentAgo(d time.Duration) map[string]string {
	return sqsevent.System(time.Now().Add(-d), 1)
}

// Waits that get shorter are the end of something else: of our own outage, or of an attack that is over.
func TestHandler_Process_chargesNothingWhileWaitsGetShorter(t *testing.T) {
	in(t, answersAfter(2900*time.Millisecond), func(w *rig) {
		h := w.handler()
		for n, waited := range []time.Duration{40 * time.Second, 30 * time.Second, 20 * time.Second, 10 * time.Second} {
			w.processBy(h, batch(fmt.Sprint(n, "-"), func(event string) events.SQSMessage {
				r := w.fresh(event, "webhook_1")
				r.Attributes = sentAgo(waited)
				return r
			})...)
		}
		if len(w.charged) > 0 {
			w.Errorf("charged %d times while the process caught up", len(w.charged))
		}
	})
}

// A batch that tells nothing of its wait is no end of the waits.
func TestHandler_Process_chargesNothingForABatchThatTellsNothing(t *testing.T) {
	silent := map[string]func(w *rig, event string) events.SQSMessage{
		"of second receives": func(w *rig, event string) events.SQSMessage {
			return w.on("delivery", 2, message(event, "webhook_1"))
		},
		"of replays": func(w *rig, event string) events.SQSMessage {
			m := message(event, "webhook_1")
			m.Replay = 1
			return w.on("delivery", 1, m)
		},
	}
	for name, make := range silent {
		t.Run(name, func(t *testing.T) {
			in(t, answersAfter(2900*time.Millisecond), func(w *rig) {
				h := w.handler()
				telling := func(waited time.Duration) {
					w.processBy(h, batch(waited.String(), func(event string) events.SQSMessage {
						r := w.fresh(event, "webhook_1")
						r.Attributes = sentAgo(waited)
						return r
					})...)
				}
				telling(30 * time.Second)
				w.processBy(h, batch("silent", func(event string) events.SQSMessage { return make(w, event) })...)
				telling(20 * time.Second)
				if len(w.charged) > 0 {
					w.Errorf("charged %d times while the process caught up", len(w.charged))
				}
				telling(40 * time.Second)
				if len(w.charged) == 0 {
					w.Errorf("charged nothing when waits grew again")
				}
			})
		})
	}
}

// However fast batches follow one another, a process charges a tenant once a second, and forgets nothing.
func TestHandler_Process_chargesATenantOnceASecond(t *testing.T) {
	in(t, answersAfter(300*time.Millisecond), func(w *rig) {
		w.rules.Allowance.Burst = time.Hour // else it is set aside
		h, last := w.handler(), time.Duration(0)
		for n := range 50 {
			w.processBy(h, batch(fmt.Sprint(n, "-"), func(event string) events.SQSMessage {
				r := w.fresh(event, "webhook_1")
				r.Attributes = sentAgo(time.Duration(n+11) * 100 * time.Millisecond)
				return r
			})...)
		}
		for n, at := range w.charged {
			if n > 0 && at-last < time.Second {
				w.Errorf("charged %s after the charge before", at-last)
			}
			last = at
		}
		if len(w.charged) < 10 {
			w.Errorf("charged %d times in 15 s", len(w.charged))
		}
	})
}

func TestLastBatch_waits(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	one := func(ago time.Duration) candidate {
		return candidate{task: task{
			records: make([]events.SQSMessage, 1), from: delivery.DeliveryQueue, place: 1, receives: 1, sentAt: now.Add(-ago),
		}}
	}
	b := lastBatch{ended: now.Add(-time.Minute / 2)}
	got := b.waits([]candidate{one(time.Minute), one(20 * time.Second), one(10 * time.Second)}, time.Second, now)
	if want := (waits{average: 30 * time.Second, late: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := b.waits(nil, time.Second, now); got != (waits{}) {
		t.Errorf("of no batch: %+v", got)
	}
}
