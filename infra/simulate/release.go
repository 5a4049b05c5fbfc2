package main

import (
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/health"
)

// perTick is how many items release moves in a run, at 2,000 a second; what recovery may send is
// bounded by its own budget.
const (
	perSecond = 2_000
	perTick   = 45 * perSecond
)

// tick is one run of release.
func (w *world) tick() {
	w.stats.aws.ticks++
	if w.scenario.tablesRefuse(w.now) {
		return
	}
	plans := w.plans()
	w.sendDue(plans)
	w.probe(plans)
	w.recover(plans)
}

type planned struct {
	endpoint int32
	is       health.Endpoint
	plan     health.Plan
	lasts    int
}

// plans stores the turns of the endpoints in trouble and says what else they need.
func (w *world) plans() map[int32]*planned {
	kept := w.trouble[:0]
	plans := make(map[int32]*planned, len(w.trouble))
	for _, e := range w.trouble {
		if w.endpoints[e].item.Version == 0 {
			continue
		}
		kept = append(kept, e)
		v := health.View{TenantID: "t", EndpointID: w.name(e), Endpoint: w.endpoints[e].item}
		p := &planned{endpoint: e, plan: v.Plan(w.settings, health.Endpoint{}, w.time())}
		if p.plan.Turn.Kind != health.Nothing && !w.apply(e, p.plan.Turn) {
			continue
		}
		plans[e] = p
	}
	w.trouble = kept
	return plans
}

// sendDue sends what its schedule sends now, and ends the lives that are over.
func (w *world) sendDue(plans map[int32]*planned) {
	moved := 0
	var keep []int32
	for moved < perTick {
		n, ok := w.store.takeDue(w.now + w.settings.Ahead)
		if !ok {
			break
		}
		i := &w.store.items[n]
		p := plans[i.message.endpoint]
		if p == nil {
			p = &planned{endpoint: i.message.endpoint}
		}
		fate := p.plan.After.Fate(w.settings, p.is, i.waiting(), w.time())
		switch fate.Step {
		case health.SendDue:
			w.send(n, max(i.due.duration()-w.now, spent(moved)))
		case health.SendLast:
			if p.lasts >= w.settings.Last {
				keep = append(keep, n)
				continue
			}
			p.lasts++
			i.message.last = true
			w.send(n, spent(moved))
		case health.Redate:
			w.store.redate(n, i.message.dies)
		case health.Die, health.Drop:
			w.died(i.message)
			w.store.remove(n)
		case health.Keep, health.SendRecovery:
			keep = append(keep, n)
			continue
		}
		moved++
	}
	for _, n := range keep {
		w.store.keepDue(n)
	}
}

func spent(moved int) time.Duration { return time.Duration(moved) * time.Second / perSecond }

// send moves an item to RetryQueue.
func (w *world) send(n int32, delay time.Duration) {
	m := w.store.items[n].message
	w.store.remove(n)
	w.retries.queue.Send(m, w.group(m.endpoint), w.now, awsmodel.Whole(delay))
	w.stats.aws.released++
}

func (w *world) probe(plans map[int32]*planned) {
	for _, e := range w.trouble {
		p := plans[e]
		if p == nil || !p.plan.Probe {
			continue
		}
		n, ok := w.anyOf(e)
		if !ok {
			continue
		}
		claim := p.plan.After.Claim(w.settings, p.is, w.time())
		if !w.apply(e, claim) {
			continue
		}
		i := &w.store.items[n]
		i.message.probe, i.message.due = claim.Item.Probe, 0
		w.send(n, 0)
	}
}

// anyOf picks one of the endpoint's items: the simulation has no poison, so the oldest will do.
func (w *world) anyOf(endpoint int32) (int32, bool) { return w.store.takeOldest(endpoint) }

// recover shares the budget among the endpoints that answer again and sends what waits for them.
func (w *world) recover(plans map[int32]*planned) {
	var those []*planned
	var paces []int
	for _, e := range w.trouble {
		p := plans[e]
		if p == nil || !p.plan.Recover {
			continue
		}
		oldest, ok := w.store.takeOldest(e)
		at := w.time()
		if ok {
			at = epoch.Add(w.store.items[oldest].message.created.duration())
			w.store.keepOldest(oldest)
		}
		those = append(those, p)
		paces = append(paces, p.plan.After.Endpoint.Pace(w.settings, at, w.time()))
	}
	for n, quota := range health.Allot(w.settings.Budget, paces) {
		w.recoverOne(those[n], quota)
	}
}

func (w *world) recoverOne(p *planned, quota int) {
	var keep []int32
	sent, found, oldest := 0, false, time.Time{}
	for {
		n, ok := w.store.takeOldest(p.endpoint)
		if !ok {
			break
		}
		i := &w.store.items[n]
		fate := p.plan.After.Fate(w.settings, p.is, i.waiting(), w.time())
		sends := fate.Step == health.SendRecovery || fate.Step == health.SendLast
		found = found || i.held || sends
		if sends && oldest.IsZero() {
			oldest = epoch.Add(i.message.created.duration())
		}
		if !sends {
			keep = append(keep, n)
			continue
		}
		if sent >= quota {
			keep = append(keep, n)
			break
		}
		delay := w.settings.Tick * time.Duration(sent) / time.Duration(max(quota, 1))
		sent++
		i.message.due = 0
		w.send(n, delay)
	}
	for _, n := range keep {
		w.store.keepOldest(n)
	}
	if !found {
		w.apply(p.endpoint, p.plan.After.Empty(w.settings, p.is, w.time()))
		return
	}
	w.apply(p.endpoint, p.plan.After.Released(quota, sent, oldest, w.time()))
}
