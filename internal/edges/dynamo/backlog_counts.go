package dynamo

import (
	"context"
	"strconv"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

// maxCounted bounds the items of an endpoint that are counted. Deliveries spread evenly over the shards, so that
// maxPerShard, twice a shard's share, is enough of each.
const (
	maxCounted  = 1000
	maxPerShard = 2 * maxCounted / backlog.Shards
)

// Waiting counts the items of one endpoint.
type Waiting struct {
	// Items is at most 1,000.
	Items int

	// Held is the number of the items that wait for the endpoint. The others wait for their schedule.
	Held int

	// More says that the endpoint has more items than were counted.
	More bool

	// Oldest is created_at of the oldest delivery; zero without items.
	Oldest time.Time
}

// Count counts the endpoint's items, up to 1,000, by one small Query a shard. People read the result, so the reads are
// eventually consistent.
func (b *Backlog) Count(ctx context.Context, endpointID string) (Waiting, error) {
	var w Waiting
	for shard := range backlog.Shards {
		items, last, err := b.query(ctx, query{
			condition: "endpoint_shard = :shard", values: given{":shard": shardName(endpointID, shard)},
			fields: "#position, held", limit: maxPerShard, behind: true,
		})
		if err != nil {
			return Waiting{}, err
		}
		w.More = w.More || len(last) > 0
		for _, item := range items {
			w.count(item)
		}
	}
	return w, nil
}

// count counts an item, up to the bound. The oldest is found among all, since shards come one after the other.
func (w *Waiting) count(item attributes) {
	ref, err := backlog.Parse(getStr(item, "position"))
	if err == nil && (w.Oldest.IsZero() || ref.CreatedAt.Before(w.Oldest)) {
		w.Oldest = ref.CreatedAt
	}
	if w.Items == maxCounted {
		w.More = true
		return
	}
	w.Items++
	if read[bool](item, "held") {
		w.Held++
	}
}

// Total counts the items of all endpoints together.
type Total struct {
	// Items is the number of counted items: a lower bound if More is set.
	Items int

	// Held is the number of the items that wait for their endpoints. The others wait for their schedules.
	Held int

	// More says that there are more items than were counted.
	More bool

	// NextDue is the earliest due time of an item; zero without items.
	NextDue time.Time

	// By has the counts of each endpoint. They are exact unless More is set.
	By map[string]Waiting
}

// Total counts all items, up to perShard of each of the 16 parts of the index by due time. The index is a little behind
// the table.
func (b *Backlog) Total(ctx context.Context, perShard int) (Total, error) {
	total := Total{By: map[string]Waiting{}}
	for shard := range backlog.DueShards {
		items, last, err := b.query(ctx, query{
			index: "by-due", condition: "due_shard = :shard", values: given{":shard": strconv.Itoa(shard)},
			fields: "endpoint_shard, #position, due_at, held", limit: perShard,
		})
		if err != nil {
			return Total{}, err
		}
		total.Items += len(items)
		total.More = total.More || len(last) > 0
		if len(items) == 0 {
			continue
		}
		for _, item := range items {
			if read[bool](item, "held") {
				total.Held++
			}
			id := backlogKeyOf(item).EndpointID
			one := total.By[id]
			one.count(item)
			total.By[id] = one
		}
		if first := read[time.Time](items[0], "due_at"); total.NextDue.IsZero() || first.Before(total.NextDue) {
			total.NextDue = first
		}
	}
	return total, nil
}
