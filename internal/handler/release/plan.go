package release

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/parallel"
)

// sight is the work as a run first sees it.
type sight struct {
	circuits  []circuit.Item       // of the endpoints in trouble
	slowUntil map[string]time.Time // by tenant
	blind     bool                 // it could not read in full where there is work
}

// look reads the endpoints in trouble and the first page of each shard of the index by due time, all at the
// same time. A run that finds nothing has made all its calls here.
func (h *Handler) look(ctx context.Context, t *tally, d *due) (seen sight) {
	errs := parallel.Each(backlog.DueShards+1, backlog.DueShards+1, func(n int) (err error) {
		if n < backlog.DueShards {
			return d.read(ctx, &d.lanes[n], n)
		}
		seen.circuits, seen.slowUntil, err = h.Circuits.All(ctx)
		return err
	})
	unread := 0
	for n, err := range errs {
		if err == nil {
			continue
		}
		t.fault(ctx, "looking for work", err)
		if n < backlog.DueShards {
			d.lanes[n].failed = true
			unread++
		}
	}
	seen.blind = errs[backlog.DueShards] != nil || unread == backlog.DueShards
	return seen
}

// only are the searches with such plans.
func only(searches []*search, which func(circuit.Plan) bool) (some []*search) {
	for _, s := range searches {
		if which(s.plan) {
			some = append(some, s)
		}
	}
	return some
}

// plan reads the endpoints in trouble, and stores the changes of state that no attempt brings about. An
// endpoint that could not be read, or whose change was refused, is left to the next run.
func (h *Handler) plan(ctx context.Context, t *tally, circuits []circuit.Item) []*search {
	asked := h.Now()
	readings := h.readings(ctx, t, circuits)
	searches := make([]*search, len(circuits))
	t.each(ctx, "planning for an endpoint", len(circuits), func(n int) error {
		i := circuits[n]
		key := dynamo.EndpointKey{TenantID: i.TenantID, EndpointID: i.EndpointID}
		reading, read := readings[key]
		if !read || reading.Err != nil {
			return reading.Err
		}
		facts := factsOf(reading, asked.Add(-h.Settings.Run)) // clocks differ; a later run drops the rest
		p := i.Plan(h.Settings, facts, h.Now())
		if p.Changed {
			stored, applied, err := h.store(ctx, i, p.Item)
			if err != nil || !applied {
				return err
			}
			p.Item = stored
		}
		searches[n] = &search{key: key, facts: facts, plan: p, endpoint: reading.Endpoint}
		return nil
	})
	searches = slices.DeleteFunc(searches, func(s *search) bool { return s == nil })
	return inTurn(searches, func(s *search) dynamo.EndpointKey { return s.key })
}

// readings reads endpoints, a call for as many as have their keys in one.
func (h *Handler) readings(
	ctx context.Context, t *tally, circuits []circuit.Item,
) map[dynamo.EndpointKey]dynamo.Reading {
	pages := slices.Collect(slices.Chunk(circuits, pageSize))
	read := make([]map[dynamo.EndpointKey]dynamo.Reading, len(pages))
	t.each(ctx, "reading endpoints", len(pages), func(n int) (err error) {
		var keys []dynamo.EndpointKey
		for _, i := range pages[n] {
			keys = append(keys, dynamo.EndpointKey{TenantID: i.TenantID, EndpointID: i.EndpointID})
		}
		read[n], err = h.Endpoints.Read(ctx, keys, nil)
		return err
	})
	all := map[dynamo.EndpointKey]dynamo.Reading{}
	for _, page := range read {
		maps.Copy(all, page)
	}
	return all
}

// factsOf are the facts about an endpoint that its row and its tenant's hold, read after the time given.
func factsOf(r dynamo.Reading, asked time.Time) circuit.Facts {
	e := r.Endpoint
	latest := func(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
	return circuit.Facts{
		Gone:    !r.Found || !e.Live(),
		GoneAt:  asked,
		Stopped: e.StoppedBy(r.Tenant),
		ChangedAt: latest(e.CreatedAt, e.UpdatedAt, e.DeletedAt, e.SecretRotatedAt,
			e.Marks.ResumedAt, r.Tenant.ResumedAt),
		ReleasedAt:      e.Marks.ReleasedAt,
		DiscardedBefore: e.DiscardedBefore(r.Tenant),
		PausedAt:        latest(e.Marks.PausedAt, r.Tenant.PausedAt),
		ResumedAt:       latest(e.Marks.ResumedAt, r.Tenant.ResumedAt),
	}
}
