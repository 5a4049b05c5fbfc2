package invariants

import (
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// smallWorlds are where searches begin. The acts of operators stand with each.
var smallWorlds = map[string]struct {
	given func(w *world)
	deeds []string
}{
	"two new deliveries to an endpoint that is down": {
		given: func(w *world) {
			w.own(hook, 500)
			w.publish(hook)
			w.publish(hook)
		},
		deeds: []string{"200"},
	},
	"two deliveries wait for an open circuit": {
		given: func(w *world) {
			w.own(hook, 500)
			w.have(open(hook))
			w.held(hook, 0)
			w.held(hook, 0)
		},
		deeds: []string{"200", "500", "release"},
	},
	"one is recovered while another comes back": {
		given: func(w *world) {
			w.own(hook, 200)
			w.have(circuit.Item{EndpointID: hook, State: circuit.Recovering})
			w.held(hook, 0)
			w.retried(hook, 5)
		},
		deeds: []string{"500", "pause"},
	},
	"one is received under a pause": {
		given: func(w *world) {
			w.own(hook, 200)
			w.pausedBefore(hook)
			w.retried(hook, 5)
			w.held(hook, 0)
		},
		deeds: []string{"resume", "discard"},
	},
	"one is received while its owner has disabled its endpoint": {
		given: func(w *world) {
			w.own(hook, 200)
			w.edit(hook, func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
			w.retried(hook, 5)
		},
		deeds: []string{"enabled", "disabled", "deleted"},
	},
	"a lease has almost ended": {
		given: func(w *world) {
			w.own(hook, 500)
			w.have(open(hook))
			i := w.Circuits[hook]
			i.HeldUntil = time.Now().Add(61500 * time.Millisecond)
			w.Circuits[hook] = i
			w.retried(hook, 5)
		},
		deeds: []string{"200", "deleted", "enabled"},
	},
	"one is due, and one is over": {
		given: func(w *world) {
			w.own(hook, 500)
			w.due(hook, time.Minute)
			w.have(open(hook))
			w.held(hook, 170*time.Hour)
		},
		deeds: []string{"200", "pause"},
	},
	"one is received, one held and one due where none is selected": {
		given: func(w *world) {
			w.own(hook, 500)
			w.have(open(hook))
			w.edit(hook, func(e *endpoint.Endpoint) { e.Events = []string{narrow} })
			w.retried(hook, 5)
			w.held(hook, 0)
			w.due(hook, time.Minute)
		},
		deeds: []string{"*", narrow, "200", "deleted"},
	},
	"two new deliveries exceed a limit, and one waits for its rate": {
		given: func(w *world) {
			w.own(hook, 200)
			w.limit(hook, 1)
			w.publish(hook)
			w.publish(hook)
			w.rated(hook)
		},
		deeds: []string{"limited", "limited less", "unlimited", "500"},
	},
	"a slow tenant's delivery is on both queues": {
		given: func(w *world) {
			w.own(hook, 500)
			w.Slow[tenant] = time.Now().Add(7 * time.Hour)
			w.publish(hook)
			w.retried(hook, 3)
		},
		deeds: []string{"200", "disabled"},
	},
}
