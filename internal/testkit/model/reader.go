package model

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Reader returns it as the process calls it.
func (p *Process) Reader(eventual bool) Reader { return Reader{Process: p, Eventual: eventual} }

// Reader reads endpoints with their circuits (dynamo.Reader).
type Reader struct {
	*Process
	Eventual bool // circuits and tenants' numbers
	Deleted  bool // deleted endpoints, too
}

type readings = map[dynamo.EndpointKey]dynamo.Reading

// Read reads rows and circuits; either may be refused alone.
func (r Reader) Read(
	ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	if len(keys) == 0 {
		return readings{}, nil
	}
	m, key := r.model, ""
	for _, k := range keys {
		key = max(key, k.EndpointID)
	}
	found, err := asked(ctx, r.Process, "Read Endpoints", key, func() readings {
		found := make(readings, len(keys))
		for _, k := range keys {
			found[k] = r.row(k)
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	circuits, err := asked(ctx, r.Process, "Read EndpointHealth", key, func() readings {
		circuits := make(readings, len(keys))
		for _, k := range keys {
			circuits[k] = dynamo.Reading{Gate: endpoint.Gate{Circuit: r.circuit(k)}, SlowUntil: m.Slow[k.TenantID]}
		}
		return circuits
	})
	if err != nil {
		return found, nil //nolint:nilerr // circuits may be unread
	}
	for k, reading := range found {
		if !quiet[k] && reading.Err == nil && m.readable(brokenCircuit+k.EndpointID) == nil {
			reading.Circuit = circuits[k].Circuit
			reading.SlowUntil = circuits[k].SlowUntil
			reading.CircuitRead = true
			found[k] = reading
		}
	}
	return found, nil
}

func (r Reader) circuit(k dynamo.EndpointKey) circuit.Item {
	i := r.model.Circuits[k.EndpointID]
	if r.Eventual {
		i = r.model.behind(k.EndpointID)
	}
	i.TenantID, i.EndpointID = k.TenantID, k.EndpointID
	return i
}

// row is the reading of an endpoint's row and marks.
func (r Reader) row(k dynamo.EndpointKey) dynamo.Reading {
	m := r.model
	e, found := m.Endpoints[k.EndpointID]
	found = found && e.TenantID == k.TenantID && (r.Deleted || e.Live())
	if found && m.broken[brokenEndpoint+k.EndpointID] || m.broken[brokenMarks+k.TenantID] {
		return dynamo.Reading{Err: unreadable(k.EndpointID), Gate: endpoint.Gate{Found: true}}
	}
	e = bare(e)
	e.Marks = m.marksFor(m.Endpoints[k.EndpointID])
	if !found {
		e = endpoint.Endpoint{}
	}
	return dynamo.Reading{Gate: endpoint.Gate{
		Endpoint: e, Found: found, Tenant: m.Stops[k.TenantID],
		Circuit: circuit.Item{TenantID: k.TenantID, EndpointID: k.EndpointID},
	}}
}
