package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// probes send one delivery to each endpoint with an open circuit that may answer again.
type probes struct {
	shards   Shards
	circuits circuitWriter
	mover    *mover
	settings circuit.Settings
	schedule retry.Schedule
	now      func() time.Time
	random   func() float64

	// ahead are the endpoints that are still to be probed.
	ahead []trouble
}

// toProbe are the endpoints to probe.
func toProbe(all []trouble) (chosen []trouble) {
	for _, t := range all {
		if t.plan.Probe {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// send probes endpoints until the time given.
func (p *probes) send(ctx context.Context, until time.Time) (did counts, left bool) {
	for len(p.ahead) > 0 && p.now().Before(until) {
		next := p.ahead[:min(len(p.ahead), atOnce)]
		p.ahead = p.ahead[len(next):]
		did = did.plus(inSteps(step{"probing an endpoint", len(next), func(n int) (counts, error) {
			return p.probe(ctx, next[n])
		}}))
	}
	return did, len(p.ahead) > 0
}

// probe stores the claim before it sends: only the run that stored it does. A crash after that costs one wait.
func (p *probes) probe(ctx context.Context, t trouble) (did counts, err error) {
	picked, err := p.candidate(ctx, t)
	if err != nil || !picked.found {
		return picked.did, err
	}
	// Another run may have claimed the same probe in the same minute. Only one claim is stored.
	claim := t.plan.Item.Claim(p.settings, p.now())
	_, applied, err := p.circuits.store(ctx, t.plan.Item, claim)
	if err != nil || !applied {
		return picked.did, err
	}
	item := picked.item
	item.Message.Life.Probe = claim.ProbedAt
	sent := p.mover.carry(ctx, []transfer{{kind: kindProbe, item: item, delay: p.settings.Spread(t.key.EndpointID)}})
	return picked.did.plus(sent.did), nil
}

// pick is an item to probe with, if one was found.
type pick struct {
	found bool
	item  backlog.Item
	did   counts
}

// candidate picks the item to probe with from the first of its shards that has one. The first shard to look into is a
// random one.
func (p *probes) candidate(ctx context.Context, t trouble) (picked pick, err error) {
	first := int(p.random() * backlog.Shards)
	for n := range backlog.Shards {
		shard := (first + n) % backlog.Shards
		if p.mover.leaves(t.key.EndpointID, shard) {
			continue
		}
		var one pick
		one, err = p.candidateOf(ctx, t, shard)
		one.did = one.did.plus(picked.did)
		picked = one
		if picked.found {
			return picked, nil
		}
	}
	return picked, err
}

// candidateOf picks from a shard the first item created after a random time, or any of the oldest where nothing was
// created since. So one delivery that no receiver accepts does not keep a circuit open.
func (p *probes) candidateOf(ctx context.Context, t trouble, shard int) (picked pick, err error) {
	oldest, err := p.shards.ReadShard(ctx, t.key.EndpointID, shard, "", pageSize)
	if err != nil || len(oldest.Items) == 0 {
		return picked, err
	}
	// The second page begins at a random time between the oldest delivery and now. Where it has no item that serves, one
	// of the oldest is taken, from a random place on.
	since := oldest.Items[0].Message.CreatedAt
	at := since.Add(time.Duration(p.random() * float64(p.now().Sub(since))))
	random, err := p.shards.ReadShard(ctx, t.key.EndpointID, shard, backlog.Before(at), pageSize)
	from := int(p.random() * float64(len(oldest.Items)))
	picked.did = p.drop(ctx, t, slices.Concat(oldest.Items, random.Items))
	for _, i := range slices.Concat(random.Items, oldest.Items[from:], oldest.Items[:from]) {
		if p.serves(t, i) {
			picked.item = i
			picked.found = true
			return picked, nil
		}
	}
	return picked, err
}

// drop discards items that the endpoint's owner has unsubscribed from. Otherwise a shard full of them, which serve no
// probe, would hide everything behind it.
func (p *probes) drop(ctx context.Context, t trouble, items []backlog.Item) counts {
	var drops []transfer
	known := map[backlog.Key]bool{} // an item may be on both pages
	for _, i := range items {
		if t.owns(i) && t.admits(i, p.schedule) == endpoint.Unsubscribed && !known[i.Key] {
			known[i.Key] = true
			drops = append(drops, discarded(i, delivery.ReasonUnsubscribed))
		}
	}
	return p.mover.carry(ctx, drops).did
}

// serves reports whether an item may be the probe: only the open circuit stands in its way. A delivery of another
// tenant may not, nor one at the end of its life, nor one of a receiver that asked to wait.
func (p *probes) serves(t trouble, i backlog.Item) bool {
	now := p.now()
	ended := i.Held && !i.DueAt.After(now)
	return t.owns(i) && t.admits(i, p.schedule) == endpoint.CircuitOpen && !ended && !i.NotBefore.After(now)
}
