package release

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/health"
)

// probe sends one delivery to each endpoint that may answer again.
func (t *tick) probe(ctx context.Context, until time.Time) (left bool) {
	for len(t.probes) > 0 && t.inTime(until) {
		n := min(len(t.probes), lanes)
		t.each(ctx, "probing an endpoint", n, func(i int) error { return t.probeOne(ctx, t.probes[i]) })
		t.probes = t.probes[n:]
	}
	return len(t.probes) > 0
}

// probeOne stores the probe's number before it sends anything: only the process that stored it sends.
// A crash after that costs one interval.
func (t *tick) probeOne(ctx context.Context, e *destination) error {
	item, found, err := t.candidate(ctx, e)
	if err != nil || !found {
		return err
	}
	claim := e.view.Claim(t.Thresholds, e.is, t.Now())
	applied, err := t.apply(ctx, e, claim)
	if err != nil || !applied {
		return err
	}
	item.Message.Life.Probe = claim.Item.Probe
	t.carry(ctx, []*move{{item: item, to: e, kind: kindProbe}})
	return nil
}

// candidate picks the item to probe with: of a random shard that is not empty, the first created after
// a random time, or any of the oldest where nothing was created since, so that one delivery which no
// receiver accepts does not keep a circuit open.
func (t *tick) candidate(ctx context.Context, e *destination) (picked backlog.Item, found bool, err error) {
	first := int(t.Random() * backlog.Shards)
	for n := range backlog.Shards {
		shard := (first + n) % backlog.Shards
		if t.refuses(backlog.Key{EndpointID: e.key.EndpointID, Shard: shard}) {
			continue
		}
		picked, found, err = t.candidateOf(ctx, e, shard)
		if found {
			return picked, true, nil
		}
	}
	return picked, false, err
}

func (t *tick) candidateOf(
	ctx context.Context, e *destination, shard int,
) (picked backlog.Item, found bool, err error) {
	oldest, err := t.readable(ctx, e, shard, "")
	if err != nil || len(oldest) == 0 {
		return picked, false, err
	}
	since := oldest[0].Message.CreatedAt
	at := since.Add(time.Duration(t.Random() * float64(t.Now().Sub(since))))
	random, err := t.readable(ctx, e, shard, backlog.Before(at))
	from := int(t.Random() * float64(len(oldest)))
	for _, items := range [][]backlog.Item{random, oldest[from:], oldest[:from]} {
		for _, i := range items {
			if t.mayProbe(e, i) {
				return i, true, nil
			}
		}
	}
	return picked, false, err
}

// maxUnreadable is the number of pages after which a candidate is sought in another shard.
const maxUnreadable = 5

// readable returns the first items behind a position, past pages that this release cannot read.
func (t *tick) readable(ctx context.Context, e *destination, shard int, after string) ([]backlog.Item, error) {
	for range maxUnreadable {
		page, err := t.Shards.ReadShard(ctx, e.key.EndpointID, shard, after, pageSize)
		if err != nil || len(page.Items) > 0 || page.Next == "" {
			return page.Items, err
		}
		after = page.Next
	}
	return nil, nil
}

// mayProbe leaves alone what ends now, and what its receiver asked to wait for.
func (t *tick) mayProbe(e *destination, i backlog.Item) bool {
	now := t.Now()
	f := e.fate(t.Thresholds, i, now)
	return f.Step != health.Drop && f.Step != health.Die && !i.Message.NotBefore.After(now)
}
