package model

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

// meddler is a mutant. Its tables change before, or after, each call whose name has the prefix.
func meddler(after bool, prefix string, change func(m *Model)) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		m.meddle = func(call string, isAfter bool) {
			if isAfter == after && strings.HasPrefix(call, prefix) {
				change(m)
			}
		}
		return b
	}
}

// each changes every row of a table.
func each[R any](rows map[string]R, change func(r *R)) {
	for id, r := range rows {
		change(&r)
		rows[id] = r
	}
}

func before(prefix string, change func(m *Model)) mutant { return meddler(false, prefix, change) }
func behind(prefix string, change func(m *Model)) mutant { return meddler(true, prefix, change) }

func letters(change func(r *deadletter.Record)) func(m *Model) {
	return func(m *Model) { each(m.Letters, change) }
}

func jobs(change func(r *JobRow)) func(m *Model) { return func(m *Model) { each(m.Jobs, change) } }
func apikeys(change func(k *apikey.Key)) func(m *Model) {
	return func(m *Model) { each(m.Keys, change) }
}
func rows(change func(e *endpoint.Endpoint)) func(m *Model) {
	return func(m *Model) { each(m.Endpoints, change) }
}
func mended(m *Model) { clear(m.broken) }
func asItDied(r *deadletter.Record) {
	r.Status, r.ReplayCount, r.UpdatedAt = deadletter.Dead, 0, r.DiedAt
}

var letterMutants = map[string]mutant{
	"a death makes a record once": before("Write", func(m *Model) { clear(m.Letters) }),
	"a first death in a later life counts its replays": behind("Write", letters(func(r *deadletter.Record) {
		r.ReplayCount = 0
	})),
	"a further death is added once, in its turn": behind("Write", letters(func(r *deadletter.Record) {
		r.Sealed.History = r.Sealed.History[len(r.Sealed.History)-1:]
	})),
	"there is room for the largest body and every replay": behind("Write", letters(func(r *deadletter.Record) {
		r.Sealed.History = r.Sealed.History[max(0, len(r.Sealed.History)-50):]
	})),
	"a claim is won by one of many":                         before("Write", letters(asItDied)),
	"a claim whose answer was lost holds until it is stale": before("Write", letters(asItDied)),
	"a claim follows the life of a replay": behind("Write", letters(func(r *deadletter.Record) {
		if r.Status == deadletter.Replayed {
			r.Status = deadletter.Dead
		}
	})),
	"a purge takes only what was read":         before("Write", letters(asItDied)),
	"a record that cannot be read is an error": before("Read", mended),
	"what is selected is listed in the order of deaths, in full pages": behind("Write", letters(
		func(r *deadletter.Record) { r.DiedAt = time.Unix(0, 0) })),
}

var jobMutants = map[string]mutant{
	"a job is made once": before("Write", func(m *Model) { clear(m.Jobs) }),
	"one worker has a running job, until its lease has passed": before("Write", jobs(func(r *JobRow) {
		r.Lease = job.Lease{}
	})),
	"only the worker with the lease brings a job further": before("Write", jobs(func(r *JobRow) {
		r.Lease.Worker = "w1"
	})),
	"a job that is finished is done, and never runs again": behind("Write", jobs(func(r *JobRow) {
		r.State = job.Running
	})),
	"a stop and its worker's progress refuse each other not": behind("Write", jobs(func(r *JobRow) {
		if r.State == job.Stopped {
			r.Lease = job.Lease{}
		}
	})),
	"stopped and running jobs are listed first, each newest first": before("Read", jobs(func(r *JobRow) {
		r.StartedAt = time.Time{}
	})),
	"pages of results are found in their order, each once": behind("Write", jobs(func(r *JobRow) {
		delete(r.Pages, 3)
	})),
}

var keyMutants = map[string]mutant{
	"a key is stored once": before("Write", func(m *Model) { clear(m.Keys) }),
	"a revocation keeps the key and the first time": before("Write", apikeys(func(k *apikey.Key) {
		k.RevokedAt = time.Time{}
	})),
	"a tenant's keys are listed, the newest first": before("Read", apikeys(func(k *apikey.Key) {
		k.CreatedAt = time.Time{}
	})),
	"a key spends up to its budget in each minute": behind("Write", apikeys(func(k *apikey.Key) { k.Spent = 0 })),
	"a request shows that its key is revoked, or gone": behind("Write", apikeys(func(k *apikey.Key) {
		k.RevokedAt = time.Time{}
	})),
}

// A bar in an id may end what a key is made of.
var tenantMutants = map[string]mutant{
	"a tenant has its own items, however it is called": behind("Write", apikeys(func(k *apikey.Key) {
		k.TenantID, _, _ = strings.Cut(k.TenantID, "|")
	})),
}

// endpointsLike is a store of endpoints with some methods replaced.
type endpointsLike struct {
	storetest.Endpoints
	m *Model

	overwrites, keepsAll, prunesRestored, marksAll, skips bool
	listed                                                func([]endpoint.Endpoint)
}

func (e endpointsLike) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	if e.overwrites {
		was = e.m.Endpoints[now.ID]
	}
	return e.Endpoints.Replace(ctx, was, now)
}

func (e endpointsLike) Prune(ctx context.Context, surplus []endpoint.Endpoint) error {
	if e.keepsAll {
		return nil
	}
	if e.prunesRestored {
		for n := range surplus {
			surplus[n] = e.m.Endpoints[surplus[n].ID]
		}
	}
	return e.Endpoints.Prune(ctx, surplus)
}

func (e endpointsLike) List(ctx context.Context, tenantID string) ([]endpoint.Endpoint, error) {
	all, err := e.Endpoints.List(ctx, tenantID)
	if e.listed != nil {
		e.listed(all)
	}
	return all, err
}

// Subscribers loses the last endpoint of each full page.
func (e endpointsLike) Subscribers(
	ctx context.Context, wanted func(dynamo.Subscriber) bool, limit int, cursor string,
) ([]dynamo.Subscriber, string, error) {
	found, next, err := e.Endpoints.Subscribers(ctx, wanted, limit, cursor)
	if e.skips && len(found) == limit {
		found = found[:limit-1]
	}
	return found, next, err
}

// Mark stores the marks that change has made even if change says that there is nothing to store. The model once did
// that.
func (e endpointsLike) Mark(
	ctx context.Context, key dynamo.EndpointKey, change func(*endpoint.Marks) bool,
) (bool, endpoint.Marks, error) {
	if !e.marksAll {
		return e.Endpoints.Mark(ctx, key, change)
	}
	changed := false
	_, marks, err := e.Endpoints.Mark(ctx, key, func(m *endpoint.Marks) bool {
		changed = change(m)
		return true
	})
	return changed, marks, err
}

func likeEndpoints(like endpointsLike) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		like.Endpoints, like.m = b.Endpoints, m
		b.Endpoints = like
		return b
	}
}

var endpointMutants = map[string]mutant{
	"an endpoint is read whole, in every status": behind("Write", rows(func(e *endpoint.Endpoint) { e.Description = "" })),
	"a change that is asked for again is no refusal": behind("Write", rows(func(e *endpoint.Endpoint) {
		e.Revision = "another"
	})),
	"a change of what has changed is a conflict": likeEndpoints(endpointsLike{overwrites: true}),
	"fifty are live, however many are made at once": behind("Write", func(m *Model) {
		if all := m.of("acme"); len(all) > 0 {
			all[0].TenantID = "another"
			m.Endpoints[all[0].ID] = all[0]
		}
	}),
	"a lower bound takes no more, and leaves what is there": func(b storetest.Backend, _ *Model) storetest.Backend {
		b.AtMostThree = b.Endpoints
		return b
	},
	"a check of URLs is told where tokens come from": behind("Write", rows(func(e *endpoint.Endpoint) { e.OAuth = nil })),
	"of URLs that are set at once, each is checked beside those before it": behind("Write", rows(
		func(e *endpoint.Endpoint) { e.URL = "" })),
	"a change that was overtaken since its check is busy, at the limit, too": before("", func(m *Model) {
		clear(m.urls)
	}),
	"the longest deleted are pruned, beyond a hundred and fifty": likeEndpoints(endpointsLike{keepsAll: true}),
	"what its owner says of an endpoint is read apart, and stays until it is changed": behind("Write", rows(
		func(e *endpoint.Endpoint) {
			if !e.Live() {
				e.About = endpoint.About{}
			}
		})),
	"an endpoint that is restored before it is pruned stays": likeEndpoints(endpointsLike{prunesRestored: true}),
	"subscriptions are the ids and events of the active": before("Read", rows(func(e *endpoint.Endpoint) {
		e.Status = endpoint.Active
	})),
	"a row that cannot be read hides no other, but no event is fanned out to some": before("Read", mended),
	"the live of all tenants are on pages, each once, the unreadable with their keys alone": likeEndpoints(
		endpointsLike{skips: true}),
	"all are listed by the time of their creation": likeEndpoints(endpointsLike{
		listed: func(all []endpoint.Endpoint) { slices.Reverse(all) },
	}),
}

var markMutants = map[string]mutant{
	"marks of a tenant and of its endpoints are kept apart": behind("Write", func(m *Model) {
		for e := range maps.Values(m.Endpoints) {
			m.Stops[e.TenantID] = e.Marks
		}
	}),
	"a change of nothing changes nothing, and shows the marks": likeEndpoints(endpointsLike{marksAll: true}),
	"of many operators at once, one has paused":                before("Write", func(m *Model) { clear(m.Stops) }),
	"marks outlast every change of the owner's, and go with the endpoint": behind("Write", rows(
		func(e *endpoint.Endpoint) {
			if !e.Live() {
				e.Marks = endpoint.Marks{}
			}
		})),
	"marks that hold at a site outlast their endpoint, and are read with what comes": behind("Write", func(m *Model) {
		clear(m.Left)
	}),
	"marks that cannot be read are an error": before("Read", mended),
}

// loud reads the circuits of quiet endpoints, too.
type loud struct{ storetest.Reader }

func (l loud) Read(
	ctx context.Context, keys []dynamo.EndpointKey, _ map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	return l.Reader.Read(ctx, keys, nil)
}

var readerMutants = map[string]mutant{
	"endpoints are read with marks, circuits and moments, and what is not there, too": before("Read", func(m *Model) {
		clear(m.Circuits)
	}),
	"the circuits of quiet endpoints are left out": func(b storetest.Backend, _ *Model) storetest.Backend {
		b.Reader = loud{b.Reader}
		return b
	},
	"a deleted endpoint is not there": func(b storetest.Backend, m *Model) storetest.Backend {
		b.Reader = Reader{Process: m.Process("any"), Deleted: true}
		return b
	},
	"what cannot be read is the fault of its own endpoints alone": before("Read", mended),
}

var uncounted = before("Write Deliveries", func(m *Model) { clear(m.tests) })

// ofAllTenants counts the tests of all tenants at a site together.
type ofAllTenants struct{ storetest.TestCounts }

func (c ofAllTenants) CountTest(ctx context.Context, key dynamo.SiteKey, most int, now time.Time) (bool, error) {
	key.TenantID = ""
	return c.TestCounts.CountTest(ctx, key, most, now)
}

var testCountMutants = map[string]mutant{
	"a minute takes so many tests at a site, and no more": uncounted,
	"tests of another tenant are counted apart, whatever its id": func(b storetest.Backend, _ *Model) storetest.Backend {
		b.TestCounts = ofAllTenants{b.TestCounts}
		return b
	},
	"tests at one moment are all counted":        uncounted,
	"a test counts although its answer was lost": uncounted,
}
