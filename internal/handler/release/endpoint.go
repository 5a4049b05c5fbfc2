package release

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// destination is what a tick knows of an endpoint, from when it first met it.
type destination struct {
	key    dynamo.EndpointKey
	known  chan struct{} // closed when the fields below are there
	usable bool          // all of it was read, and its turn is stored
	unsure bool          // its health could not be read
	is     health.Endpoint
	plan   health.Plan

	mu    sync.Mutex
	view  health.View
	lasts int          // last attempts sent in this tick
	idle  int          // items that were read for nothing
	ended [classes]int // keys that endLives has to look at

	asking  chan struct{} // semaphore of one
	asked   bool          // whether something may be held for it
	holding bool          // the answer
}

const (
	meetSize = 33   // endpoints whose three keys fit into one BatchGetItem call
	maxIdle  = 1000 // items of an endpoint that are read in vain: recovery, or a later tick, sends them
)

// meet reads endpoints that the tick does not know yet, and stores their turns. When it returns, all
// of them are known, those that another goroutine met at the same time included.
func (t *tick) meet(ctx context.Context, keys []dynamo.EndpointKey) {
	var fresh, all []*destination
	t.mu.Lock()
	for _, key := range keys {
		e := t.destinations[key.EndpointID]
		if e == nil {
			e = &destination{key: key, known: make(chan struct{}), asking: make(chan struct{}, 1)}
			t.destinations[key.EndpointID] = e
			fresh = append(fresh, e)
		}
		all = append(all, e)
	}
	t.mu.Unlock()
	parts := (len(fresh) + meetSize - 1) / meetSize
	t.each(ctx, "reading endpoints", parts, func(i int) error {
		return t.read(ctx, fresh[i*meetSize:min((i+1)*meetSize, len(fresh))])
	})
	for _, e := range all {
		<-e.known
	}
}

// read makes endpoints known. Those that could not be read are left to the next tick.
func (t *tick) read(ctx context.Context, fresh []*destination) error {
	defer func() {
		for _, e := range fresh {
			close(e.known)
		}
	}()
	keys := make([]dynamo.EndpointKey, len(fresh))
	for n, e := range fresh {
		keys[n] = e.key
	}
	readings, err := t.Endpoints.Read(ctx, keys)
	if err != nil {
		return err
	}
	t.each(ctx, "turning an endpoint", len(fresh), func(i int) error {
		return t.turn(ctx, fresh[i], readings[fresh[i].key])
	})
	return nil
}

var errHealthUnread = errors.New("endpoints are known without their health")

// turn stores the change of state that no attempt brings about. When it is refused, somebody else was
// faster, and the endpoint is left to the next tick.
func (t *tick) turn(ctx context.Context, e *destination, r dynamo.Reading) error {
	e.is = statusOf(r)
	e.view = health.View{TenantID: e.key.TenantID, EndpointID: e.key.EndpointID}
	if !r.HealthRead {
		e.unsure = true
		t.fault(ctx, "reading health", errHealthUnread)
		return nil
	}
	e.view = r.View
	e.plan = e.view.Plan(t.Thresholds, e.is, t.Now())
	applied, err := t.apply(ctx, e, e.plan.Turn)
	if err != nil || !applied {
		return err
	}
	e.view, e.usable = e.plan.After, true
	return nil
}

// apply stores a write about the endpoint and logs a change of its state. When the write is refused,
// the endpoint's view becomes the item that is stored.
func (t *tick) apply(ctx context.Context, e *destination, w health.Write) (applied bool, err error) {
	if w.Kind == health.Nothing {
		return true, nil
	}
	stored, applied, err := t.Health.Apply(ctx, w)
	if err != nil {
		return false, err
	}
	e.mu.Lock()
	before := e.view.Endpoint.State
	e.view.Endpoint = stored
	e.mu.Unlock()
	if applied && stored.State != before {
		t.Log.InfoContext(ctx, "endpoint turned", telemetry.KeyEndpoint, e.key.EndpointID,
			"from", name(before), "to", name(stored.State))
	}
	return applied, nil
}

func name(s health.State) string {
	if s == health.None {
		return "none"
	}
	return string(s)
}

func statusOf(r dynamo.Reading) health.Endpoint {
	if !r.Found {
		return health.Endpoint{Gone: true, Final: true}
	}
	e := r.Endpoint
	changed := e.UpdatedAt
	for _, at := range []time.Time{e.CreatedAt, e.DeletedAt, e.SecretRotatedAt} {
		if at.After(changed) {
			changed = at
		}
	}
	return health.Endpoint{
		Gone: e.Status == endpoint.Deleted, Disabled: e.Status == endpoint.Disabled, ChangedAt: changed,
	}
}

// met returns the endpoint if this tick knows it already.
func (t *tick) met(id string) *destination {
	t.mu.Lock()
	e := t.destinations[id]
	t.mu.Unlock()
	if e == nil {
		return nil
	}
	select {
	case <-e.known:
		return e
	default:
		return nil
	}
}

// sweeps reports whether everything that waits for the endpoint has to be looked at although it
// does not recover.
func (e *destination) sweeps() bool {
	return e.plan.Search && (e.is.Gone || !e.discardedBefore().IsZero())
}

func (e *destination) discardedBefore() time.Time {
	before := e.view.Endpoint.DiscardedBefore
	if e.view.Tenant.DiscardedBefore.After(before) {
		return e.view.Tenant.DiscardedBefore
	}
	return before
}

// holds reports whether what waits for the endpoint goes on waiting, or ends.
func (e *destination) holds() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.holdsNow()
}

// holdsNow is holds under e.mu.
func (e *destination) holdsNow() bool {
	i := e.view.Endpoint
	return e.usable && (e.is.Gone || e.is.Disabled || i.Paused || e.view.Tenant.Paused ||
		i.State == health.Open || i.State == health.Disabled)
}

// runs reports whether what waits for the endpoint waits for its schedule alone, as far as is known.
func (e *destination) runs() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.holdsNow() && e.view.Endpoint.State != health.Recovering
}

// fate says what becomes of an item now. Where the endpoint's health could not be read, only what is
// due by its schedule is sent: deliver decides again.
func (e *destination) fate(s health.Settings, i backlog.Item, now time.Time) health.Fate {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.view.Fate(s, e.is, i.Waiting(), now)
	switch {
	case e.usable, e.unsure && f.Step == health.SendDue:
		return f
	}
	return health.Fate{}
}

// mayHold makes sure that what is held for the endpoint is found again: first its item has to say so. One
// goroutine asks; those that decide about other items do not wait for it.
func (t *tick) mayHold(ctx context.Context, e *destination) bool {
	e.asking <- struct{}{}
	defer func() { <-e.asking }()
	if e.asked {
		return e.holding
	}
	now := t.Now()
	e.asked = true
	e.mu.Lock()
	decision := e.view.Decide(health.Question{Disabled: e.is.Disabled, StartedAt: now}, now)
	e.mu.Unlock()
	if decision.Action != health.Hold {
		return false
	}
	applied, err := t.apply(ctx, e, decision.First)
	if err != nil {
		t.fault(ctx, "noting that something is held", err)
	}
	e.holding = err == nil && applied
	return e.holding
}
