package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const (
	dyingFor       = 4 * time.Minute
	retriesASecond = 20 // of others

	// The time of calls of release, and the part of it that its processor works on them: by what is read, and for each
	// deletion. Together they let it move 2,000 small deliveries a second.
	callTakes   = 12 * time.Millisecond
	deleting    = 400 * time.Microsecond
	bytesRead   = 40e6 // a second
	bytesOfKey  = 350
	bytesOfItem = 1000 // beside the body
)

func dyingScenarios() (all []Scenario) {
	for _, d := range []dying{{6000, 0}, {12_000, 0}, {50_000, 0}, {900, 250_000}, {9500, 250_000}} {
		size := "small"
		if d.bytes > 0 {
			size = "large"
		}
		all = append(all, Scenario{
			Name: "dying", Says: "held deliveries at the end of their lives", Kind: Dying, Rate: 10,
			Variant: fmt.Sprintf("%s, %d a minute", size, d.aMinute), Length: calm + dyingFor + time.Minute,
			party: party{tenants: 1, hooks: busyHooks, act: d.act}, dying: d,
		})
	}
	return all
}

// act puts the tenant's deliveries into Backlog, and the others' retries.
func (d dying) act(w *world, hooks []*hook) {
	w.owns(hooks, endpoint.Disabled)
	random := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // figures that can be repeated
	w.Mu.Lock()
	defer w.Mu.Unlock()
	began := time.Now().Add(calm)
	life := func(due time.Time) delivery.Life {
		return delivery.Life{StartedAt: due.Add(-retry.MaxLife), DueAt: due, Reason: delivery.ReasonHTTP5xx, Status: 503}
	}
	for n := range d.aMinute * int(dyingFor/time.Minute) {
		at := began.Add(time.Duration(n) * time.Minute / time.Duration(d.aMinute))
		w.waits(hooks[n%len(hooks)], random, delivery.Move{Attempts: 4, Due: at, Held: true, Life: life(at)})
	}
	for n := range retriesASecond * int(w.scenario.Length/time.Second) {
		at := time.Now().Add(time.Duration(n) * time.Second / retriesASecond)
		w.waits(w.others[n%len(w.others)], random, delivery.Move{Attempts: 4, Due: at, Life: life(at)})
	}
}

// takeTime has a call of release take its time.
func takeTime(c *model.Call) model.Verdict {
	if strings.HasPrefix(c.Process.Name, "release") {
		time.Sleep(callTakes)
	}
	return model.Done
}

// weighed is Backlog as release calls it, with one processor that works on one thing at a time.
type weighed struct {
	release.Backlog
	world     *world
	processor chan struct{}
}

func (b weighed) work(d time.Duration) {
	b.processor <- struct{}{}
	time.Sleep(d)
	<-b.processor
}

func (b weighed) decode(bytes int) {
	b.work(time.Duration(float64(bytes) / bytesRead * float64(time.Second)))
}

func (b weighed) decodeItems(page dynamo.Page) {
	bytes := 0
	for _, i := range page.Items {
		bytes += bytesOfItem
		if b.world.hooks[i.EndpointID].role == subject {
			bytes += b.world.scenario.dying.bytes
		}
	}
	b.decode(bytes)
}

// Due reads keys.
func (b weighed) Due(
	ctx context.Context, shard int, until time.Time, limit int, cursor string,
) (due []dynamo.Due, next string, err error) {
	due, next, err = b.Backlog.Due(ctx, shard, until, limit, cursor)
	b.decode(bytesOfKey * len(due))
	return due, next, err
}

// BatchGet reads items by their keys.
func (b weighed) BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error) {
	page, err := b.Backlog.BatchGet(ctx, keys)
	b.decodeItems(page)
	return page, err
}

// ReadShard reads the items of a shard.
func (b weighed) ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (
	dynamo.Page, error,
) {
	page, err := b.Backlog.ReadShard(ctx, endpointID, shard, after, limit)
	b.decodeItems(page)
	return page, err
}

// Delete deletes each item by a call.
func (b weighed) Delete(ctx context.Context, items []backlog.Item) []error {
	b.work(time.Duration(len(items)) * deleting)
	return b.Backlog.Delete(ctx, items)
}

// overdue counts the deliveries whose lives have been over for a minute, and notes the others' retries that are due and
// have not left Backlog.
func (w *world) overdue() (n int) {
	for _, i := range w.Backlog.Items {
		late := time.Since(i.DueAt)
		switch {
		case i.Held && late > time.Minute:
			n++
		case !i.Held && late > 0 && w.hooks[i.EndpointID].role == other:
			w.stats.retries.add(late)
		}
	}
	return n
}
