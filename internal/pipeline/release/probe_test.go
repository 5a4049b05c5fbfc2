package release

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// The waits are 1, 2, 4 and 5 minutes.
func TestRun_probesUnderClaims(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 30)
		a.store(hook, circuit.Open)
		began := time.Now()
		a.minutes(14)
		var after []time.Duration
		for _, m := range a.sent {
			after = append(after, m.At.Sub(began))
			if !m.Life.Probe.Equal(m.At.UTC()) || m.Delay != a.handler().Settings.Spread(hook) || m.Attempts != "5" {
				a.Errorf("sent %+v", m)
			}
		}
		want := []time.Duration{time.Minute, 3 * time.Minute, 7 * time.Minute, 12 * time.Minute}
		if diff := cmp.Diff(want, after); diff != "" {
			a.Errorf("probes (-want +got)\n%s", diff)
		}
		if got := a.Circuits[hook]; !got.ProbedAt.Equal(a.sent[3].Life.Probe) || len(a.left(hook)) != 26 {
			a.Errorf("claimed %+v, %d wait", got, len(a.left(hook)))
		}
	})
}

func TestRun_sendsNoProbe(t *testing.T) {
	inAccounts(t, map[string]func(*account){
		"when its claim is refused": func(a *account) { a.refuse("Store") },
		"when another run has claimed one": func(a *account) {
			a.during("ReadShard", func(i *circuit.Item) { i.Version++ })
		},
		"of a delivery that waits for Retry-After": func(a *account) {
			a.changeAll(func(i *backlog.Item) {
				i.NotBefore = time.Now().Add(time.Hour)
			})
		},
		"of a discarded delivery": func(a *account) {
			a.change(hook, func(e *endpoint.Endpoint) { e.Marks.DiscardedBefore = time.Now() })
		},
		"of a delivery that is over": func(a *account) {
			a.changeAll(func(i *backlog.Item) {
				i.DueAt = time.Now()
			})
			a.refuse("Circuit")
		},
		"of a delivery that has used its last place": func(a *account) {
			a.changeAll(func(i *backlog.Item) {
				i.Held, i.Message.Attempts, i.DueAt = false, 10, time.Now().Add(time.Hour)
			})
		},
		"to a paused endpoint": func(a *account) { a.change(hook, paused) },
	}, func(a *account, _ string, spoil func(*account)) {
		a.held(hook, 3)
		a.store(hook, circuit.Open)
		time.Sleep(time.Minute)
		spoil(a)
		a.run()
		if len(a.sent) != 0 || !a.Circuits[hook].ProbedAt.IsZero() {
			a.Errorf("sent %+v, claimed %+v", a.sent, a.Circuits[hook])
		}
	})
}

func TestRun_probesAtOnceWhenTheOwnerChangedTheEndpoint(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 2)
		a.store(hook, circuit.Open, func(i *circuit.Item) { i.Probes = 5 })
		time.Sleep(time.Second)
		a.run()
		if len(a.sent) != 0 {
			a.Fatal("probed too early")
		}
		a.change(hook, func(e *endpoint.Endpoint) { e.UpdatedAt = time.Now() })
		a.run()
		if len(a.sent) != 1 {
			a.Errorf("sent %+v", a.sent)
		}
	})
}
