package release

import (
	"context"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// probes send one delivery to each open endpoint that may answer again.
type probes struct {
	h        *Handler
	t        *tally
	out      *outlet
	searches []*search
}

func (p *probes) send(ctx context.Context, until time.Time) (left bool) {
	for len(p.searches) > 0 && p.h.Now().Before(until) {
		turn := p.searches[:min(len(p.searches), lanes)]
		p.searches = p.searches[len(turn):]
		p.t.each(ctx, "probing an endpoint", len(turn), func(n int) error { return p.probe(ctx, turn[n]) })
	}
	return len(p.searches) > 0
}

// probe stores the claim before it sends: only the run that stored it does. A crash after that costs one
// wait.
func (p *probes) probe(ctx context.Context, s *search) error {
	item, found, err := p.candidate(ctx, s)
	if err != nil || !found {
		return err
	}
	claim := s.plan.Item.Claim(p.h.Settings, p.h.Now())
	_, applied, err := p.h.store(ctx, s.plan.Item, claim)
	if err != nil || !applied {
		return err
	}
	item.Message.Life.Probe = claim.ProbedAt
	p.out.carry(ctx, []move{{kind: kindProbe, item: item, delay: p.h.Settings.Spread(s.key.EndpointID)}})
	return nil
}

// candidate picks the item to probe with: of a random shard that is not empty, the first created after a
// random time, or any of the oldest where nothing was created since, so that one delivery which no receiver
// accepts does not keep a circuit open.
func (p *probes) candidate(ctx context.Context, s *search) (picked backlog.Item, found bool, err error) {
	first := int(p.h.Random() * backlog.Shards)
	for n := range backlog.Shards {
		shard := (first + n) % backlog.Shards
		if p.out.refuses(s.key.EndpointID, shard) {
			continue
		}
		picked, found, err = p.candidateOf(ctx, s, shard)
		if found {
			return picked, true, nil
		}
	}
	return picked, false, err
}

func (p *probes) candidateOf(ctx context.Context, s *search, shard int) (picked backlog.Item, found bool, err error) {
	oldest, err := p.h.Backlog.ReadShard(ctx, s.key.EndpointID, shard, "", pageSize)
	if err != nil || len(oldest.Items) == 0 {
		return picked, false, err
	}
	since := oldest.Items[0].Message.CreatedAt
	at := since.Add(time.Duration(p.h.Random() * float64(p.h.Now().Sub(since))))
	random, err := p.h.Backlog.ReadShard(ctx, s.key.EndpointID, shard, backlog.Before(at), pageSize)
	from := int(p.h.Random() * float64(len(oldest.Items)))
	p.drop(ctx, s, slices.Concat(oldest.Items, random.Items))
	for _, items := range [][]backlog.Item{random.Items, oldest.Items[from:], oldest.Items[:from]} {
		for _, i := range items {
			if p.serves(s, i) {
				return i, true, nil
			}
		}
	}
	return picked, false, err
}

// drop discards what the endpoint's owner has unsubscribed from. Otherwise a shard full of it, which serves no probe,
// would hide everything behind it.
func (p *probes) drop(ctx context.Context, s *search, items []backlog.Item) {
	var drops []move
	seen := map[backlog.Key]bool{} // an item may be on both pages
	for _, i := range items {
		if s.owns(i) && unsubscribed(i, s.endpoint) && !seen[i.Key] {
			seen[i.Key] = true
			drops = append(drops, discarded(i, delivery.ReasonUnsubscribed))
		}
	}
	p.out.carry(ctx, drops)
}

// serves excludes deliveries of another tenant, ones that are unsubscribed, discarded or over, and ones of a receiver
// that asked to wait.
func (p *probes) serves(s *search, i backlog.Item) bool {
	now := p.h.Now()
	over := i.Held && !i.DueAt.After(now) || i.Message.Attempts >= p.h.Schedule.Last()
	dropped := unsubscribed(i, s.endpoint) || i.Message.Life.StartedAt.Before(s.facts.DiscardedBefore)
	return s.owns(i) && !over && !dropped && !i.NotBefore.After(now)
}
