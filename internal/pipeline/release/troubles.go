package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// Endpoints reads endpoints with their circuits, strongly consistent (dynamo.Reader).
type Endpoints interface {
	Read(ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool) (
		map[dynamo.EndpointKey]dynamo.Reading, error)
}

// trouble is an endpoint in trouble as this run has read it, and the work that package circuit plans for it.
type trouble struct {
	key dynamo.EndpointKey
	// gate has the circuit that is in the plan.
	gate  endpoint.Gate
	facts circuit.Facts
	// asked is a moment before the endpoint was read.
	asked time.Time
	// plan is the work for the endpoint. The circuit in it is stored.
	plan circuit.Plan
}

// owns reports whether an item is of the tenant that was read. An endpoint is found through its circuit, and the
// circuit names the tenant: where that is not the item's tenant, the facts say nothing about the item.
func (t trouble) owns(i backlog.Item) bool { return i.Message.TenantID == t.key.TenantID }

// admits says whether an item may be sent to the endpoint. A waiting delivery is no probe.
func (t trouble) admits(i backlog.Item, s retry.Schedule) endpoint.Admission {
	return t.gate.Admits(endpoint.DeliveryOf(&i.Message, s))
}

// planner reads endpoints in trouble, and plans the work of a run for them.
type planner struct {
	endpoints Endpoints
	circuits  circuitWriter
	settings  circuit.Settings
	now       func() time.Time
}

// plan reads the endpoints of these circuits, in calls of as many keys as one call takes, and plans for each. An
// endpoint that could not be read, or whose circuit could not be changed, is left to the next run. Tenants take turns
// in the answer.
func (p planner) plan(ctx context.Context, items []circuit.Item) (troubles []trouble, did counts) {
	asked := p.now().Add(-p.settings.Run) // clocks differ; a later run drops the rest
	pages := slices.Collect(slices.Chunk(items, pageSize))
	readings := make([]map[dynamo.EndpointKey]dynamo.Reading, len(pages))
	planned := make([]*trouble, len(items))
	did = inSteps(
		step{"reading endpoints", len(pages), func(n int) (_ counts, err error) {
			readings[n], err = p.endpoints.Read(ctx, keysOf(pages[n]), nil)
			return counts{}, err
		}},
		step{"planning for an endpoint", len(items), func(n int) (_ counts, err error) {
			// A page that could not be read has no readings; its fault is that of the step before.
			reading, found := readings[n/pageSize][keyOf(items[n])]
			if !found || reading.Err != nil {
				return counts{}, reading.Err
			}
			planned[n], err = p.planOne(ctx, items[n], reading, asked)
			return counts{}, err
		}},
	)
	for _, one := range planned {
		if one == nil {
			continue
		}
		troubles = append(troubles, *one)
		if one.plan.Item.Troubled(one.facts) {
			did.inTrouble++
		}
	}
	return inTurn(troubles, func(t trouble) dynamo.EndpointKey { return t.key }), did
}

// planOne plans for one endpoint, and stores the change of its state that no attempt brings about. It answers with nil
// where another writer was faster.
func (p planner) planOne(ctx context.Context, i circuit.Item, r dynamo.Reading, asked time.Time) (*trouble, error) {
	facts := factsOf(r.Gate)
	plan := i.Plan(p.settings, facts, p.now())
	if plan.Changed {
		stored, applied, err := p.circuits.store(ctx, i, plan.Item)
		if err != nil || !applied {
			return nil, err
		}
		plan.Item = stored
	}
	r.Circuit = plan.Item
	return &trouble{key: keyOf(i), gate: r.Gate, facts: facts, asked: asked, plan: plan}, nil
}

func keyOf(i circuit.Item) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: i.TenantID, EndpointID: i.EndpointID}
}

func keysOf(items []circuit.Item) (keys []dynamo.EndpointKey) {
	for _, i := range items {
		keys = append(keys, keyOf(i))
	}
	return keys
}

// factsOf are the facts about an endpoint that its row and its tenant's row hold.
func factsOf(g endpoint.Gate) circuit.Facts {
	e, answer := g.Endpoint, g.AdmitsAny()
	newest := func(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
	return circuit.Facts{
		Gone:    answer == endpoint.Gone,
		Stopped: answer.Stops(),
		Limit:   e.Rate(),
		ChangedAt: newest(e.CreatedAt, e.UpdatedAt, e.DeletedAt, e.SecretRotatedAt,
			e.Marks.ResumedAt, g.Tenant.ResumedAt),
		ReleasedAt:      e.Marks.ReleasedAt,
		DiscardedBefore: e.DiscardedBefore(g.Tenant),
		PausedAt:        newest(e.Marks.PausedAt, g.Tenant.PausedAt),
		ResumedAt:       newest(e.Marks.ResumedAt, g.Tenant.ResumedAt),
	}
}
