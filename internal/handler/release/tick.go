package release

import (
	"context"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/parallel"
)

const (
	pageSize = 25   // items that are read, sent and deleted together: one BatchWriteItem call
	keysSize = 1000 // keys of the index by due time that are read in one call
	lanes    = backlog.DueShards
)

// tick is one run of release.
type tick struct {
	*Handler
	began, until time.Time
	blind        bool // it could not read in full where there is work

	tenants    []health.Item // of tenants that are paused, or discard
	due        []*lane
	probes     []*destination // to be probed
	recoveries []*walk        // of endpoints that recover
	sweeps     []*walk        // of endpoints whose items have to be dropped
	shared     bool           // the recoveries have their quotas

	mu           sync.Mutex
	destinations map[string]*destination // by id, all that this tick has met
	refused      map[partition]bool      // whose deletes were refused
	ending       []dynamo.Due            // keys of what its endpoint holds, for endLives
	tally        tally
}

// partition is one of Backlog: a shard of an endpoint.
type partition struct {
	endpointID string
	shard      int
}

func partitionOf(k backlog.Key) partition { return partition{k.EndpointID, k.Shard} }

func (h *Handler) begin(ctx context.Context) *tick {
	t := &tick{
		Handler: h, began: h.Now(),
		destinations: map[string]*destination{}, refused: map[partition]bool{}, tally: newTally(),
	}
	t.until = t.began.Add(h.Thresholds.Tick)
	if deadline, ok := ctx.Deadline(); ok {
		t.until = deadline.Add(-deadline.Sub(t.began) / 10)
	}
	for shard := range backlog.DueShards {
		t.due = append(t.due, &lane{tick: t, shard: shard})
	}
	return t
}

// look finds out where there is work: endpoints in trouble, and the first page of every due-shard.
// A tick that finds none has made all its calls here, at the same time.
func (t *tick) look(ctx context.Context) (trouble []dynamo.EndpointKey) {
	errs := parallel.Each(lanes+2, lanes+2, func(i int) (err error) {
		switch i {
		case lanes:
			trouble, err = t.inTrouble(ctx)
		case lanes + 1:
			_, err = t.Health.SweepNotes(ctx, t.began.Add(-t.Thresholds.FunctionTimeout))
		default:
			err = t.due[i].readKeys(ctx)
		}
		return err
	})
	unread := 0
	for n, err := range errs {
		if err != nil {
			t.fault(ctx, "looking for work", err)
		}
		if n < lanes && err != nil {
			unread++
		}
	}
	t.blind = errs[lanes] != nil || unread == lanes
	return trouble
}

// inTrouble lists the endpoints, and notes the tenants. Pauses of tenants are read with each of their
// endpoints.
func (t *tick) inTrouble(ctx context.Context) (keys []dynamo.EndpointKey, err error) {
	items, _, err := t.Health.Trouble(ctx, 0, "")
	for _, i := range items {
		if i.EndpointID == "" {
			t.tenants = append(t.tenants, i)
			continue
		}
		keys = append(keys, dynamo.EndpointKey{TenantID: i.TenantID, EndpointID: i.EndpointID})
	}
	return keys, err
}

// expire removes marks of tenants that nothing is left for.
func (t *tick) expire(ctx context.Context) {
	var writes []health.Write
	for _, i := range t.tenants {
		if w := i.Expire(t.Thresholds, t.Now()); w.Kind != health.Nothing {
			writes = append(writes, w)
		}
	}
	t.each(ctx, "removing a tenant's mark", len(writes), func(i int) error {
		_, _, err := t.Health.Apply(ctx, writes[i])
		return err
	})
}

// plan sorts the endpoints in trouble by what they need.
func (t *tick) plan() {
	for _, e := range t.destinations {
		if !e.usable {
			continue
		}
		switch {
		case e.plan.Recover:
			t.recoveries = append(t.recoveries, t.newWalk(e))
		case e.sweeps():
			t.sweeps = append(t.sweeps, t.newWalk(e))
		}
		if e.plan.Probe {
			t.probes = append(t.probes, e)
		}
	}
}

// work is one kind of work: it goes on until the time given, or until nothing is left, and reports
// whether something is.
type work func(ctx context.Context, until time.Time) (left bool)

// share gives each kind an equal part of the time that is left. What one does not use is shared again
// among those that are not finished.
func (t *tick) share(ctx context.Context, kinds ...work) {
	for len(kinds) > 0 && t.inTime(t.until) {
		var left []work
		for n, kind := range kinds {
			now := t.Now()
			if kind(ctx, now.Add(t.until.Sub(now)/time.Duration(len(kinds)-n))) {
				left = append(left, kind)
			}
		}
		kinds = left
	}
}

func (t *tick) inTime(until time.Time) bool { return t.Now().Before(until) }

// each runs do(0) … do(n-1), at most lanes at once, and counts their errors as faults.
func (t *tick) each(ctx context.Context, doing string, n int, do func(i int) error) {
	for _, err := range parallel.Each(n, lanes, do) {
		if err != nil {
			t.fault(ctx, doing, err)
		}
	}
}

// refuses reports whether the key's partition has refused a delete in this tick.
func (t *tick) refuses(k backlog.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused[partitionOf(k)]
}
