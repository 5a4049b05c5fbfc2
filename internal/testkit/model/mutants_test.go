package model

import (
	"context"
	"maps"
	"runtime"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

// recorder takes the failures of a promise in place of a test.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true; runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }

func breaks(t *testing.T, p storetest.Promise, b storetest.Backend) bool {
	t.Helper()
	r, done := &recorder{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		p.Holds(r, b)
	}()
	<-done
	return r.failed
}

// mutant is the backend with one store that breaks a promise.
type mutant func(b storetest.Backend, m *Model) storetest.Backend

// Every promise notices a store that breaks it.
func TestPromises_noticeAStoreThatBreaksThem(t *testing.T) {
	stores := map[string]map[string]mutant{
		"Circuits": circuitMutants, "Slow": slowMutants, "Rates": rateMutants, "Tokens": tokenMutants,
		"Backlog":     backlogMutants,
		"Deliveries":  deliveryMutants,
		"DeadLetters": letterMutants, "Jobs": jobMutants, "ApiKeys": keyMutants, "Endpoints": endpointMutants,
		"Marks": markMutants, "Reader": readerMutants, "TestCounts": testCountMutants,
		"Tenants": tenantMutants,
	}
	for store, promises := range storetest.Promises() {
		mutants := maps.Clone(stores[store])
		for _, p := range promises {
			broken, found := mutants[p.Name]
			m := New()
			switch {
			case !found:
				t.Errorf("%s: no store breaks that %s", store, p.Name)
			case !breaks(t, p, broken(backendOf(m), m)):
				t.Errorf("%s: a store breaks unseen that %s", store, p.Name)
			}
			delete(mutants, p.Name)
		}
		for name := range mutants {
			t.Errorf("%s: nothing promises that %s", store, name)
		}
	}
}

// circuitsLike is a store of circuits with some methods replaced.
type circuitsLike struct {
	storetest.Circuits
	store   func(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error)
	hold    func(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error
	remove  func(ctx context.Context, i circuit.Item) (bool, error)
	death   func(ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time) error
	all     func(ctx context.Context) ([]circuit.Item, map[string]time.Time, error)
	trouble func(ctx context.Context, limit int, cursor string) ([]dynamo.EndpointKey, string, error)
}

func (c circuitsLike) Store(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
	if c.store != nil {
		return c.store(ctx, was, next)
	}
	return c.Circuits.Store(ctx, was, next)
}

func (c circuitsLike) Hold(ctx context.Context, key dynamo.EndpointKey, until, now time.Time) error {
	if c.hold != nil {
		return c.hold(ctx, key, until, now)
	}
	return c.Circuits.Hold(ctx, key, until, now)
}

func (c circuitsLike) Remove(ctx context.Context, i circuit.Item) (bool, error) {
	if c.remove != nil {
		return c.remove(ctx, i)
	}
	return c.Circuits.Remove(ctx, i)
}

func (c circuitsLike) MarkDeath(
	ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time,
) error {
	if c.death != nil {
		return c.death(ctx, key, death, before)
	}
	return c.Circuits.MarkDeath(ctx, key, death, before)
}

func (c circuitsLike) All(ctx context.Context) ([]circuit.Item, map[string]time.Time, error) {
	if c.all != nil {
		return c.all(ctx)
	}
	return c.Circuits.All(ctx)
}

func (c circuitsLike) Trouble(ctx context.Context, limit int, cursor string) ([]dynamo.EndpointKey, string, error) {
	if c.trouble != nil {
		return c.trouble(ctx, limit, cursor)
	}
	return c.Circuits.Trouble(ctx, limit, cursor)
}

// likeCircuits is a mutant of the store of circuits.
func likeCircuits(change func(c *circuitsLike, m *Model)) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		c := circuitsLike{Circuits: b.Circuits}
		change(&c, m)
		b.Circuits = c
		return b
	}
}

// overwrites stores any state over any other.
func overwrites(c *circuitsLike, m *Model) {
	c.store = func(ctx context.Context, _, next circuit.Item) (circuit.Item, bool, error) {
		return c.Circuits.Store(ctx, m.Circuits[next.EndpointID], next)
	}
}

var circuitMutants = map[string]mutant{
	"a change of state writes every field but the lease": likeCircuits(func(c *circuitsLike, m *Model) {
		c.store = func(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
			_, ok, err := c.Circuits.Store(ctx, was, next)
			m.Circuits[next.EndpointID] = next // without the lease
			return next, ok, err
		}
	}),
	"the state of an item can be read alone": before("Read EndpointHealth", func(m *Model) { clear(m.Circuits) }),
	"times are kept to the millisecond": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.store = func(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
			_, ok, err := c.Circuits.Store(ctx, was, next)
			return next, ok, err
		}
	}),
	"a state replaces the version that was read and no other": likeCircuits(overwrites),
	"a lease only grows, and changes nothing else": likeCircuits(func(c *circuitsLike, m *Model) {
		c.hold = func(_ context.Context, key dynamo.EndpointKey, until, _ time.Time) error {
			i := m.Circuits[key.EndpointID]
			i.TenantID, i.EndpointID, i.HeldUntil = key.TenantID, key.EndpointID, until
			m.setCircuit(key.EndpointID, i)
			return nil
		}
	}),
	"a lease is cleared and an item removed only as they were read": likeCircuits(func(c *circuitsLike, m *Model) {
		c.remove = func(_ context.Context, i circuit.Item) (bool, error) {
			m.setCircuit(i.EndpointID, circuit.Item{})
			return true, nil
		}
	}),
	"a write that is asked for again is no refusal": likeCircuits(func(c *circuitsLike, m *Model) {
		c.remove = func(ctx context.Context, i circuit.Item) (bool, error) {
			_, found := m.Circuits[i.EndpointID]
			ok, err := c.Circuits.Remove(ctx, i)
			return ok && found, err
		}
	}),
	"the same change by another is a refusal": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.store = func(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
			now, ok, err := c.Circuits.Store(ctx, was, next)
			return now, ok || now.Version == next.Version, err
		}
	}),
	"the first death of a day is noted, and is a change": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.death = func(ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, _ time.Time) error {
			return c.Circuits.MarkDeath(ctx, key, death, always)
		}
	}),
	"a death of another tenant's is not noted": likeCircuits(func(c *circuitsLike, m *Model) {
		c.death = func(ctx context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time) error {
			key.TenantID = m.Circuits[key.EndpointID].TenantID
			return c.Circuits.MarkDeath(ctx, key, death, before)
		}
	}),
	"a death makes the item of a healthy endpoint": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.death = func(context.Context, dynamo.EndpointKey, circuit.Spell, time.Time) error { return nil }
	}),
	"deliver's store leaves the notices as they are": func(b storetest.Backend, _ *Model) storetest.Backend {
		b.WithoutNotices = b.Circuits
		return b
	},
	"all items are listed, with the tenants' moments": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.all = func(ctx context.Context) ([]circuit.Item, map[string]time.Time, error) {
			all, _, err := c.Circuits.All(ctx)
			return all, nil, err
		}
	}),
	"an item that cannot be read hides no other": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.all = func(ctx context.Context) ([]circuit.Item, map[string]time.Time, error) {
			all, slow, err := c.Circuits.All(ctx)
			if err != nil {
				return nil, nil, err
			}
			return all, slow, nil
		}
	}),
	"endpoints in trouble are named by id, and no tenants": likeCircuits(func(c *circuitsLike, _ *Model) {
		c.trouble = func(ctx context.Context, limit int, cursor string) ([]dynamo.EndpointKey, string, error) {
			keys, next, err := c.Circuits.Trouble(ctx, limit, cursor)
			return keys[:len(keys)/2], next, err
		}
	}),
}

// slowLike is a store of moments with a charge or a move replaced.
type slowLike struct {
	storetest.Circuits
	m *Model

	doubles, restarts, makes, forgets, lists, jumps bool
}

func (s slowLike) Charge(ctx context.Context, tenantID string, d time.Duration, now time.Time) (time.Time, error) {
	if s.restarts {
		delete(s.m.Slow, tenantID)
	}
	if s.doubles {
		d *= 2
	}
	return s.Circuits.Charge(ctx, tenantID, d, now)
}

func (s slowLike) MoveSlow(ctx context.Context, tenantID string, from, to time.Time) error {
	if s.makes || s.jumps {
		s.m.Slow[tenantID] = to
		return nil
	}
	return s.Circuits.MoveSlow(ctx, tenantID, from, to)
}

func (s slowLike) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	if s.forgets {
		until = s.m.Slow[tenantID]
	}
	return s.Circuits.ForgetSlow(ctx, tenantID, until)
}

func (s slowLike) Slow(ctx context.Context, limit int) (map[string]time.Time, bool, error) {
	if s.lists {
		return s.m.Slow, false, nil
	}
	return s.Circuits.Slow(ctx, limit)
}

func likeSlow(s slowLike) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		s.Circuits, s.m = b.Circuits, m
		b.Circuits = s
		return b
	}
}

var slowMutants = map[string]mutant{
	"charges of one moment add up":                        likeSlow(slowLike{doubles: true}),
	"a charge begins anew when the moment has passed":     likeSlow(slowLike{restarts: true}),
	"a move never goes beyond another":                    likeSlow(slowLike{jumps: true}),
	"a move of a tenant that was forgotten makes nothing": likeSlow(slowLike{makes: true}),
	"a moment is forgotten only as it was read":           likeSlow(slowLike{forgets: true}),
	"tenants are listed once they became slow":            likeSlow(slowLike{lists: true}),
}

// backlogLike is a store of waiting deliveries that breaks one promise.
type backlogLike struct {
	storetest.Backlog
	m *Model

	finer, twice, drops, makes, unsorted, hides, uncounted, fromStart, putsTwice, careless, forces bool
	holdsAll                                                                                       bool
}

func (b backlogLike) Put(ctx context.Context, items []backlog.Item) []error {
	errs := b.Backlog.Put(ctx, items)
	for _, i := range items {
		if b.finer {
			b.m.Backlog.Items[i.Key] = i
		}
		if b.forces {
			b.m.Backlog.Set(i, time.Now())
		}
		if b.putsTwice {
			i.Position += "again"
			b.m.Backlog.Set(i, time.Now())
		}
	}
	return errs
}

func (b backlogLike) Delete(ctx context.Context, items []backlog.Item) []error {
	if b.drops {
		return append(b.Backlog.Delete(ctx, items[2:]), nil, nil)
	}
	if b.careless {
		for n := range items {
			items[n].StoredAt = b.m.Backlog.Items[items[n].Key].StoredAt
		}
	}
	return b.Backlog.Delete(ctx, items)
}

func (b backlogLike) PutBack(ctx context.Context, item backlog.Item) (bool, error) {
	if b.makes {
		b.m.Backlog.Set(item, time.Now())
		return true, nil
	}
	if b.careless {
		item.StoredAt = b.m.Backlog.Items[item.Key].StoredAt
	}
	return b.Backlog.PutBack(ctx, item)
}

func (b backlogLike) ReadShard(
	ctx context.Context, endpointID string, shard int, after string, limit int,
) (dynamo.Page, error) {
	if b.fromStart {
		after = ""
	}
	return b.Backlog.ReadShard(ctx, endpointID, shard, after, limit)
}

func (b backlogLike) Due(
	ctx context.Context, shard int, until time.Time, limit int, cursor string,
) ([]dynamo.Due, string, error) {
	if b.unsorted {
		until = always
	}
	due, next, err := b.Backlog.Due(ctx, shard, until, limit, cursor)
	for n := range due {
		due[n].Held = due[n].Held || b.holdsAll
	}
	return due, next, err
}

func (b backlogLike) BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error) {
	page, err := b.Backlog.BatchGet(ctx, keys)
	if b.twice {
		page.Items = append(page.Items, page.Items...)
	}
	if b.hides {
		page.Unreadable = nil
	}
	return page, err
}

func (b backlogLike) Count(ctx context.Context, endpointID string) (dynamo.Waiting, error) {
	w, err := b.Backlog.Count(ctx, endpointID)
	w.More = w.More && !b.uncounted
	return w, err
}

func (b backlogLike) Total(ctx context.Context, perShard int) (dynamo.Total, error) {
	total, err := b.Backlog.Total(ctx, perShard)
	if b.uncounted {
		total.NextDue = time.Time{}
	}
	return total, err
}

func likeBacklog(like backlogLike) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		like.Backlog, like.m = b.Backlog, m
		b.Backlog = like
		return b
	}
}

var backlogMutants = map[string]mutant{
	"an item is read back whole, by shard and by key":                        likeBacklog(backlogLike{twice: true}),
	"times of a life are kept to the millisecond":                            likeBacklog(backlogLike{finer: true}),
	"a shard is read behind a position":                                      likeBacklog(backlogLike{fromStart: true}),
	"a put that is repeated makes no second item":                            likeBacklog(backlogLike{putsTwice: true}),
	"a put replaces the item that the rule says, and no other":               likeBacklog(backlogLike{forces: true}),
	"exactly the named items are deleted, and what is gone is no error":      likeBacklog(backlogLike{drops: true}),
	"an item that was put again since it was read stays":                     likeBacklog(backlogLike{careless: true}),
	"an item is put back and deleted as the rule says, and no other":         likeBacklog(backlogLike{careless: true}),
	"an item is put back for its schedule, and none is made":                 likeBacklog(backlogLike{makes: true}),
	"what is due is listed in order, by pages":                               likeBacklog(backlogLike{unsorted: true}),
	"what is due tells what waits for its endpoint, and what no longer does": likeBacklog(backlogLike{holdsAll: true}),
	"items of a later release are named and left alone":                      likeBacklog(backlogLike{hides: true}),
	"an endpoint's items are counted, held ones apart, up to a thousand":     likeBacklog(backlogLike{uncounted: true}),
	"all items are counted, by endpoint":                                     likeBacklog(backlogLike{uncounted: true}),
}

// deliveriesLike is a store of delivery states that breaks one promise.
type deliveriesLike struct {
	storetest.Deliveries
	m *Model

	goesBack, lastWins, refusesItself, leavesOut, reads, unsorted bool
}

func (d deliveriesLike) Acknowledge(ctx context.Context, records []delivery.Record) error {
	err := d.Deliveries.Acknowledge(ctx, records)
	for _, r := range records {
		if d.lastWins {
			r.State = delivery.Acknowledged
			d.m.States[r.DeliveryID] = r
		}
	}
	return err
}

// Update lets retrying with 3 attempts replace dead with 10, as the model did.
func (d deliveriesLike) Update(ctx context.Context, r delivery.Record) (bool, error) {
	was, found := d.m.States[r.DeliveryID]
	if d.goesBack && was.State != delivery.Acknowledged && r.Replay >= was.Replay {
		d.m.States[r.DeliveryID] = r
		return true, nil
	}
	written, err := d.Deliveries.Update(ctx, r)
	return written && (!d.refusesItself || !found), err
}

func (d deliveriesLike) Get(ctx context.Context, id string) (delivery.Record, bool, error) {
	r, found, err := d.Deliveries.Get(ctx, id)
	if d.reads {
		err = nil
	}
	return r, found, err
}

func (d deliveriesLike) BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error) {
	if d.leavesOut {
		ids = ids[:100]
	}
	return d.Deliveries.BatchGet(ctx, ids)
}

func (d deliveriesLike) ListOpen(
	ctx context.Context, endpointID string, p dynamo.OpenPage,
) ([]delivery.Record, string, error) {
	page, next, err := d.Deliveries.ListOpen(ctx, endpointID, p)
	if d.unsorted && len(page) == 2 {
		page[0], page[1] = page[1], page[0]
	}
	return page, next, err
}

func likeDeliveries(like deliveriesLike) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		like.Deliveries, like.m = b.Deliveries, m
		b.Deliveries = like
		return b
	}
}

var deliveryMutants = map[string]mutant{
	"a state replaces those that the rule says, and no others":       likeDeliveries(deliveriesLike{goesBack: true}),
	"of an acknowledged delivery the first record of a call is kept": likeDeliveries(deliveriesLike{lastWins: true}),
	"an update that is asked for again is no refusal":                likeDeliveries(deliveriesLike{refusesItself: true}),
	"records are read by their ids, missing ones left out":           likeDeliveries(deliveriesLike{leavesOut: true}),
	"a record that cannot be read is an error":                       likeDeliveries(deliveriesLike{reads: true}),
	"an endpoint's deliveries that are not acknowledged are listed, the newest first": likeDeliveries(
		deliveriesLike{unsorted: true}),
}
