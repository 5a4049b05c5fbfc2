//go:build emulator

package release_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
)

func TestTick_sendsWhatIsDueAsItWasParked(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	late := r.park(hook, r.in(-time.Minute))
	soon := r.park(hook, r.in(100*time.Second+time.Millisecond))
	later := r.park(hook, r.in(181*time.Second))
	r.mustTick()
	of := func(i backlog.Item, delay int) message {
		life := i.Message.Life
		life.Reason, life.Status = "", 0 // why it waited; a dead letter with a reason is one that Herald sent
		return message{
			ID: i.Message.DeliveryID, Delay: delay, Group: tenant, Attempts: "3", Life: life,
			Body: string(i.Message.Body),
		}
	}
	if diff := cmp.Diff([]message{of(late, 0), of(soon, 101)}, r.sent(r.retryQ)); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]backlog.Item{later}, r.waiting(hook)); diff != "" {
		t.Errorf("waits (-want +got)\n%s", diff)
	}
}

// The rows are about one endpoint: what becomes of one item that its due time finds.
func TestTick_ofWhatIsFoundByItsDueTime(t *testing.T) {
	type outcome struct {
		Retry, Dead []string
		Life        delivery.Life // of what was sent
		Waits       string        // held or due, as the item is then
		State       delivery.State
	}
	const id = "msg_0001"
	life := func(r *rig, change func(*delivery.Life)) delivery.Life {
		l := delivery.Life{
			StartedAt: r.now.Add(-time.Hour + time.Second), DiesAt: r.now.Add(time.Hour), OwnDue: r.now,
			Reason: delivery.ReasonHTTP5xx, Status: 503,
		}
		change(&l)
		return l
	}
	ended := func(ago time.Duration, change func(*delivery.Life)) func(*rig) delivery.Life {
		return func(r *rig) delivery.Life {
			return life(r, func(l *delivery.Life) {
				l.DiesAt = r.now.Add(-ago)
				change(l)
			})
		}
	}
	for name, row := range map[string]struct {
		given func(*rig, endpoint.Endpoint)
		item  func(*rig) func(*backlog.Item)
		want  outcome
		life  func(*rig) delivery.Life
	}{
		"due while its circuit is open: it is held": {
			given: func(r *rig, _ endpoint.Endpoint) { r.note(r.open(hook)) },
			item:  func(r *rig) func(*backlog.Item) { return r.in(0) },
			want:  outcome{Waits: "held"},
		},
		"due while its owner has disabled it, which nobody noticed: it is held": {
			given: func(r *rig, e endpoint.Endpoint) {
				r.change(e, func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
			},
			item: func(r *rig) func(*backlog.Item) { return r.in(0) },
			want: outcome{Waits: "held"},
		},
		"due while its tenant is paused": {
			given: func(r *rig, _ endpoint.Endpoint) { r.note(health.Item{Paused: true}) },
			item:  func(r *rig) func(*backlog.Item) { return r.in(0) },
			want:  outcome{Waits: "held"},
		},
		"over while its circuit is open: once more": {
			given: func(r *rig, _ endpoint.Endpoint) { r.note(r.open(hook)) },
			item:  func(r *rig) func(*backlog.Item) { return r.over(time.Minute) },
			want:  outcome{Retry: []string{id}},
			life:  ended(time.Minute, func(l *delivery.Life) { l.Last, l.Reason, l.Status = true, "", 0 }),
		},
		"over for an hour, and a probe has failed since: it dies of that": {
			given: func(r *rig, _ endpoint.Endpoint) {
				open := r.open(hook)
				open.Since = r.now.Add(-2 * time.Hour)
				r.note(open)
			},
			item: func(r *rig) func(*backlog.Item) { return r.over(time.Hour) },
			want: outcome{Dead: []string{id}},
			life: ended(time.Hour, func(l *delivery.Life) {
				l.Reason, l.Status = delivery.ReasonTimeout, 0
			}),
		},
		"over while it is paused: it dies": {
			given: func(r *rig, _ endpoint.Endpoint) { r.note(health.Item{EndpointID: hook, Paused: true}) },
			item:  func(r *rig) func(*backlog.Item) { return r.over(0) },
			want:  outcome{Dead: []string{id}},
			life:  ended(0, func(l *delivery.Life) { l.Reason, l.Status = "endpoint_paused", 0 }),
		},
		"due of an endpoint that is gone: it is discarded": {
			given: func(r *rig, e endpoint.Endpoint) {
				r.change(e, func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, r.now })
			},
			item: func(r *rig) func(*backlog.Item) { return r.in(0) },
			want: outcome{State: delivery.Discarded},
		},
		"due, and its life began before an operator's discard": {
			given: func(r *rig, _ endpoint.Endpoint) {
				r.note(health.Item{EndpointID: hook, Paused: true, DiscardedBefore: r.now})
			},
			item: func(r *rig) func(*backlog.Item) { return r.in(0) },
			want: outcome{State: delivery.Discarded},
		},
		"held and not over": {
			given: func(r *rig, _ endpoint.Endpoint) { r.note(r.open(hook)) },
			item:  func(*rig) func(*backlog.Item) { return held },
			want:  outcome{Waits: "held"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			row.given(r, r.create(hook))
			r.park(hook, row.item(r))
			r.mustTick()
			r.mustTick() // changes nothing more
			retried, dead := r.sent(r.retryQ), r.sent(r.deadQ)
			got, want := outcome{Retry: ids(retried), Dead: ids(dead)}, row.want
			for _, m := range append(retried, dead...) {
				got.Life = m.Life
			}
			for _, i := range r.waiting(hook) {
				got.Waits = map[bool]string{true: "held", false: "due"}[i.Held && i.DueAt.Equal(i.Message.Life.DiesAt)]
			}
			if s, found, err := r.states.Get(t.Context(), id); err != nil || found {
				got.State = s.State
			}
			if row.life != nil {
				want.Life = row.life(r)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, r.logs.String())
			}
			if got.Waits == "held" && !r.healthOf(hook).Held {
				t.Error("something is held, and nobody finds it again")
			}
		})
	}
}

// Last attempts are limited by tick and endpoint, and do not all arrive at once.
func TestTick_sendsSixtyLastAttemptsATick(t *testing.T) {
	r := newRig(t)
	r.create(hook)
	r.note(r.open(hook))
	for range 70 {
		r.park(hook, r.over(time.Minute))
	}
	r.mustTick()
	delays := map[int]int{}
	for _, m := range r.sent(r.retryQ) {
		delays[m.Delay]++
	}
	if len(delays) != 60 || len(r.waiting(hook)) != 10 {
		t.Errorf("sent with delays %v, %d wait", delays, len(r.waiting(hook)))
	}
	r.mustTick()
	if left := r.waiting(hook); len(left) != 0 {
		t.Errorf("%d wait after the second tick", len(left))
	}
}

// What is due of many endpoints goes on at once, however much there is of one of them.
func TestTick_catchesUpAfterAnHourWithoutIt(t *testing.T) {
	r := newRig(t)
	var want []string
	for n := range 3 {
		id := fmt.Sprintf("webhook_%d", n)
		r.create(id)
		for range 100 {
			want = append(want, r.park(id, r.in(-time.Hour)).Message.DeliveryID)
		}
	}
	r.mustTick()
	if diff := cmp.Diff(want, ids(r.sent(r.retryQ))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, text := range []string{`"BacklogLateSeconds":[3600]`, `"Released":[300]`, `"due":300`, `"Ticks":[1]`} {
		r.logsWant(text)
	}
}

func (r *rig) logsWant(text string) {
	r.t.Helper()
	if !strings.Contains(r.logs.String(), text) {
		r.t.Errorf("no %s in\n%s", text, r.logs.String())
	}
}
