package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

const acme = "acme"

var errThrottled = errors.New("throttled")

// world is Backlog, EndpointHealth and the queues in memory, where every call takes its time. It
// implements all that the handler needs, and lives in a bubble of synctest.
type world struct {
	latency time.Duration
	slow    func(m queue.Outgoing) time.Duration // of a send beside; nil: none
	refuses func(backlog.Key) bool               // to delete; nil: nothing

	mu      sync.Mutex
	shards  map[partition][]backlog.Item // by position
	due     [backlog.DueShards][]backlog.Item
	deleted map[backlog.Key]bool
	health  map[string]health.Item
	sent    []arrival
	parked  int
	got     int             // items that BatchGet returned
	gone    map[string]bool // endpoints that are deleted, and whether their items are gone
	logs    bytes.Buffer
}

// arrival is one message that RetryQueue took.
type arrival struct {
	ID, Endpoint string
	Life         delivery.Life
	At           time.Time
}

func newWorld() *world {
	return &world{
		shards: map[partition][]backlog.Item{}, deleted: map[backlog.Key]bool{}, health: map[string]health.Item{},
	}
}

func (w *world) handler() *Handler {
	return &Handler{
		Due: w, Shards: w, Changes: w, Health: w, Endpoints: w, States: w, RetryQueue: w, DeadLetterQueue: w,
		Thresholds: health.Default(), Log: slog.New(slog.NewJSONHandler(&w.logs, nil)),
		Metrics: telemetry.NewMetrics(&w.logs, "test", "release", time.Now),
		Now:     time.Now, Random: func() float64 { return 0.5 },
	}
}

// tick runs once within Lambda's timeout and returns how long it took.
func (w *world) tick(t *testing.T) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	began := time.Now()
	if err := w.handler().Tick(ctx); err != nil {
		t.Error(err)
	}
	return time.Since(began)
}

// park stores n items of an endpoint, which were stored an hour ago and are due, or held for another hour.
func (w *world) park(id string, n int, held bool) {
	for range n {
		w.parked++
		created := time.Now().Add(-time.Hour).Add(time.Duration(w.parked) * time.Millisecond)
		m := delivery.Message{
			Ref: delivery.Ref{
				DeliveryID: fmt.Sprintf("msg_%06d", w.parked), TenantID: acme, EndpointID: id, CreatedAt: created,
			},
			Body: []byte(`{"type":"user.created","data":{}}`),
		}
		life := delivery.Life{
			StartedAt: created, DiesAt: time.Now().Add(time.Hour), Reason: delivery.ReasonHTTP5xx, Status: 503,
		}
		next := delivery.Next{Attempts: 3, Due: time.Now(), Life: life}
		if held {
			next.Held, next.Due = true, life.DiesAt
		}
		i := backlog.New(m, next, created, "random00")
		at := partitionOf(i.Key)
		w.shards[at] = append(w.shards[at], i)
		w.due[i.DueShard()] = append(w.due[i.DueShard()], i)
	}
}

// call takes its time.
func (w *world) call() func() {
	time.Sleep(w.latency)
	w.mu.Lock()
	return w.mu.Unlock
}

func (w *world) left(id string) (n int) {
	for at, items := range w.shards {
		for _, i := range items {
			if at.endpointID == id && !w.deleted[i.Key] {
				n++
			}
		}
	}
	return n
}

func (w *world) Due(
	_ context.Context, shard int, until time.Time, limit int, cursor string,
) (found []dynamo.Due, next string, err error) {
	defer w.call()()
	from, _ := strconv.Atoi(cursor)
	for n, i := range w.due[shard][from:] {
		if len(found) == limit {
			return found, strconv.Itoa(from + n), nil
		}
		if !w.deleted[i.Key] && !i.DueAt.After(until) {
			found = append(found, dynamo.Due{Key: i.Key, DueAt: i.DueAt})
		}
	}
	return found, "", nil
}

func (w *world) BatchGet(_ context.Context, keys []backlog.Key) (page dynamo.Page, err error) {
	defer w.call()()
	for _, key := range keys {
		items := w.shards[partitionOf(key)]
		n, ok := slices.BinarySearchFunc(items, key.Position, byPosition)
		if ok && !w.deleted[key] {
			page.Items = append(page.Items, items[n])
		}
	}
	w.got += len(page.Items)
	return page, nil
}

func byPosition(i backlog.Item, position string) int { return strings.Compare(i.Position, position) }

func (w *world) ReadShard(
	_ context.Context, id string, shard int, after string, limit int,
) (page dynamo.Page, err error) {
	defer w.call()()
	items := w.shards[partition{id, shard}]
	from, found := slices.BinarySearchFunc(items, after, byPosition)
	if found {
		from++
	}
	for _, i := range items[from:] {
		if len(page.Items) == limit {
			page.Next = page.Items[limit-1].Position
			break
		}
		if !w.deleted[i.Key] {
			page.Items = append(page.Items, i)
		}
	}
	return page, nil
}

func (w *world) Delete(_ context.Context, keys []backlog.Key) []error {
	defer w.call()()
	errs := make([]error, len(keys))
	for n, key := range keys {
		if w.refuses != nil && w.refuses(key) {
			errs[n] = errThrottled
			continue
		}
		w.deleted[key] = true
	}
	return errs
}

func (w *world) Redate(context.Context, backlog.Key, time.Time, bool) (bool, error) { return true, nil }

func (w *world) Trouble(context.Context, int, string) (items []health.Item, next string, err error) {
	defer w.call()()
	for _, i := range w.health {
		items = append(items, i)
	}
	return items, "", nil
}

func (w *world) Apply(_ context.Context, change health.Write) (health.Item, bool, error) {
	defer w.call()()
	stored, ok := change.Apply(w.health[change.Item.EndpointID])
	if w.health[change.Item.EndpointID] = stored; stored.Version == 0 {
		delete(w.health, change.Item.EndpointID)
	}
	return stored, ok, nil
}

func (w *world) SweepNotes(context.Context, time.Time) (int, error) { return 0, nil }

func (w *world) Read(_ context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	defer w.call()()
	found := map[dynamo.EndpointKey]dynamo.Reading{}
	for _, key := range keys {
		status := endpoint.Active
		missing, deleted := w.gone[key.EndpointID]
		if deleted {
			status = endpoint.Deleted
		}
		found[key] = dynamo.Reading{
			Endpoint: endpoint.Endpoint{ID: key.EndpointID, TenantID: key.TenantID, Status: status},
			Found:    !missing, HealthRead: true,
			View: health.View{TenantID: key.TenantID, EndpointID: key.EndpointID, Endpoint: w.health[key.EndpointID]},
		}
	}
	return found, nil
}

func (w *world) Update(context.Context, delivery.Record) (bool, error) { return true, nil }

// Send makes one call for ten messages, one after another, as queue.Sender does.
func (w *world) Send(_ context.Context, messages []queue.Outgoing) []error {
	for batch := range slices.Chunk(messages, 10) {
		if w.slow != nil {
			time.Sleep(w.slow(batch[0]))
		}
		unlock := w.call()
		for _, m := range batch {
			life, _ := delivery.DecodeLife(*m.Attributes["life"].StringValue)
			w.sent = append(w.sent, arrival{
				ID: *m.Attributes["delivery_id"].StringValue, Endpoint: *m.Attributes["endpoint_id"].StringValue,
				Life: life, At: time.Now(),
			})
		}
		unlock()
	}
	return make([]error, len(messages))
}
