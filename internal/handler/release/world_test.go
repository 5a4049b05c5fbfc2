package release

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/notice"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

const (
	acme = "acme"
	hook = "webhook_1"
)

var errThrottled = errors.New("throttled")

// world is all that the handler calls, in memory and in fake time: it lives in a bubble of synctest.
type world struct {
	*testing.T
	latency time.Duration
	refuses func(call string, k backlog.Key) bool // the key is that of Delete, PutBack and ReadShard
	notices bool                                  // owners are told

	mu        sync.Mutex
	waiting   map[backlog.Key]backlog.Item
	shards    map[partition][]backlog.Key // all that ever were, by position
	index     [backlog.DueShards][]backlog.Key
	circuits  map[string]circuit.Item
	slow      map[string]time.Time
	endpoints map[string]endpoint.Endpoint
	records   map[string]delivery.Record
	sent      []message // to RetryQueue
	buried    []message // to DeadLetterQueue
	told      []notice.Notice
	calls     map[string]int // by name
	put       int
	logs      bytes.Buffer // with the metrics
}

// message is one that a queue took.
type message struct {
	ID, Endpoint, Group, Attempts string
	Delay                         time.Duration
	Life                          delivery.Life
	Body                          string
	At                            time.Time
}

// inWorld runs a test in a world of its own.
func inWorld(t *testing.T, do func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		do(&world{
			T: t, refuses: func(string, backlog.Key) bool { return false },
			waiting: map[backlog.Key]backlog.Item{}, shards: map[partition][]backlog.Key{},
			circuits: map[string]circuit.Item{}, slow: map[string]time.Time{},
			endpoints: map[string]endpoint.Endpoint{}, records: map[string]delivery.Record{}, calls: map[string]int{},
		})
	})
}

// inWorlds runs a test of each row in a world of its own.
func inWorlds[R any](t *testing.T, rows map[string]R, do func(w *world, name string, row R)) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) { inWorld(t, func(w *world) { do(w, name, row) }) })
	}
}

func (w *world) handler() *Handler {
	h := &Handler{
		Backlog: w, Circuits: w, Endpoints: w, Records: w,
		RetryQueue: queueOf{w, "RetryQueue", &w.sent}, DeadLetterQueue: queueOf{w, "DeadLetterQueue", &w.buried},
		Wake:      func(context.Context) error { return nil }, // there is no job
		Settings:  circuit.New(time.Minute, 30*time.Second),
		Schedule:  retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9},
		Allowance: allowance.New(200, 15*time.Second),
		Log:       slog.New(slog.NewJSONHandler(&w.logs, nil)),
		Metrics:   telemetry.NewMetrics(&w.logs, "test", "release", time.Now),
		Now:       time.Now, Random: func() float64 { return 0.5 },
	}
	if w.notices {
		h.Bus, h.Settings.Notices = w, true
	}
	return h
}

// run runs release once, within Lambda's timeout, and returns how long it took.
func (w *world) run() time.Duration {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 50*time.Second)
	defer cancel()
	began := time.Now()
	if err := w.handler().Run(ctx); err != nil {
		w.Error(err)
	}
	return time.Since(began)
}

// minutes is a run at the beginning of each of so many minutes.
func (w *world) minutes(n int) {
	w.Helper()
	for range n {
		next := time.Now().Add(time.Minute)
		w.run()
		time.Sleep(time.Until(next))
	}
}

// due is an item for its schedule at the sixth place, due so far from now, which was stored an hour ago.
func (w *world) due(id string, in time.Duration, change ...func(*backlog.Item)) backlog.Item {
	w.put++
	created := time.Now().Add(-time.Hour).Add(time.Duration(w.put) * time.Millisecond)
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%06d", w.put), TenantID: tenantOf(id), EndpointID: id, EventID: "event_1",
			CreatedAt: created,
		},
		Body: []byte(`{"type":"user.created","data":{}}`),
	}
	at := time.Now().Add(in)
	life := delivery.Life{StartedAt: created, DueAt: at, Reason: delivery.ReasonHTTP5xx, Status: 503}
	i := backlog.New(m, delivery.Move{Attempts: 5, Due: at, Life: life}, created, rand.Text())
	for _, f := range change {
		f(&i)
	}
	in8 := partition{id, i.Shard}
	w.waiting[i.Key] = i
	w.shards[in8] = append(w.shards[in8], i.Key)
	w.index[i.DueShard()] = append(w.index[i.DueShard()], i.Key)
	w.known(id)
	return i
}

// held are items that wait for their endpoint, and were due half an hour ago.
func (w *world) held(id string, n int, change ...func(*backlog.Item)) (items []backlog.Item) {
	hold := func(i *backlog.Item) { i.Held, i.DueAt = true, i.Message.Life.StartedAt.Add(retry.MaxLife) }
	for range n {
		items = append(items, w.due(id, -30*time.Minute, append([]func(*backlog.Item){hold}, change...)...))
	}
	return items
}

// tenantOf is the tenant of an endpoint: acme, or the part of its id behind '@'.
func tenantOf(id string) string {
	if _, tenant, other := strings.Cut(id, "@"); other {
		return tenant
	}
	return acme
}

func (w *world) known(id string) {
	if _, known := w.endpoints[id]; !known {
		w.endpoints[id] = endpoint.Endpoint{ID: id, TenantID: tenantOf(id), Status: endpoint.Active}
	}
}

// store stores the circuit of an endpoint, whose state begins now, with a lease.
func (w *world) store(id string, state circuit.State, change ...func(*circuit.Item)) {
	now := time.Now()
	i := circuit.Item{
		TenantID: tenantOf(id), EndpointID: id, Version: now.UnixNano(), State: state, Since: now,
		HeldUntil: now.Add(5 * time.Minute),
	}
	if state == circuit.Recovering {
		i.RecoveredAt = now
	}
	for _, f := range change {
		f(&i)
	}
	w.circuits[id] = i
	w.known(id)
}

// refuse has calls of this name refused; of none, nothing is.
func (w *world) refuse(name string) {
	w.refuses = func(call string, _ backlog.Key) bool { return call != "" && call == name }
}

// change changes an endpoint.
func (w *world) change(id string, f func(*endpoint.Endpoint)) {
	e := w.endpoints[id]
	f(&e)
	w.endpoints[id] = e
}

// during has somebody else change webhook_1's circuit while a call is made.
func (w *world) during(call string, change func(i *circuit.Item)) {
	w.refuses = func(made string, _ backlog.Key) bool {
		if i := w.circuits[hook]; made == call {
			change(&i)
			w.circuits[hook] = i
		}
		return false
	}
}

func (w *world) left(id string) (ids []string) {
	for key, i := range w.waiting {
		if key.EndpointID == id {
			ids = append(ids, i.Message.DeliveryID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *world) sentTo() map[string]int {
	to := map[string]int{}
	for _, m := range w.sent {
		to[m.Endpoint]++
	}
	return to
}

func (w *world) logged(texts ...string) {
	w.Helper()
	for _, text := range texts {
		if !strings.Contains(w.logs.String(), text) {
			w.Errorf("no %s in\n%s", text, w.logs.String())
		}
	}
}

func ids(messages []message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func idsOf(items ...backlog.Item) (ids []string) {
	for _, i := range items {
		ids = append(ids, i.Message.DeliveryID)
	}
	slices.Sort(ids)
	return ids
}

// call takes its time, and is refused if the test says so or its time is over.
func (w *world) call(ctx context.Context, name string, k backlog.Key) (unlock func(), err error) {
	took, cancel := context.WithTimeout(ctx, w.latency)
	defer cancel()
	<-took.Done()
	w.mu.Lock()
	w.calls[name]++
	switch {
	case ctx.Err() != nil:
		return w.mu.Unlock, ctx.Err()
	case w.refuses(name, k):
		return w.mu.Unlock, errThrottled
	}
	return w.mu.Unlock, nil
}

func (w *world) Due(
	ctx context.Context, shard int, until time.Time, limit int, cursor string,
) (found []dynamo.Due, next string, err error) {
	unlock, err := w.call(ctx, "Due", backlog.Key{Shard: shard})
	defer unlock()
	from, _ := strconv.Atoi(cursor)
	for n := from; n < len(w.index[shard]) && err == nil; n++ {
		if len(found) == limit {
			return found, strconv.Itoa(n), nil
		}
		key := w.index[shard][n]
		if i, ok := w.waiting[key]; ok && !i.DueAt.After(until) {
			found = append(found, dynamo.Due{Key: key, TenantID: i.Message.TenantID, DueAt: i.DueAt})
		}
	}
	return found, "", err
}

func (w *world) BatchGet(ctx context.Context, keys []backlog.Key) (page dynamo.Page, err error) {
	if len(keys) == 0 {
		return page, nil
	}
	unlock, err := w.call(ctx, "BatchGet", backlog.Key{})
	defer unlock()
	if err != nil {
		return dynamo.Page{Unread: keys}, err
	}
	for _, key := range keys {
		if w.refuses("BatchGetOf", key) {
			page.Unread, err = append(page.Unread, key), errThrottled
		} else if i, ok := w.waiting[key]; ok {
			page.Items = append(page.Items, i)
		}
	}
	return page, err
}

func (w *world) ReadShard(
	ctx context.Context, id string, shard int, after string, limit int,
) (page dynamo.Page, err error) {
	unlock, err := w.call(ctx, "ReadShard", backlog.Key{EndpointID: id, Shard: shard})
	defer unlock()
	if err != nil {
		return page, err
	}
	keys := w.shards[partition{id, shard}]
	from, found := slices.BinarySearchFunc(keys, after, func(k backlog.Key, after string) int {
		return strings.Compare(k.Position, after)
	})
	if found {
		from++
	}
	for _, key := range keys[from:] {
		if len(page.Items) == limit {
			page.Next = page.Items[limit-1].Position
			break
		}
		if i, ok := w.waiting[key]; ok {
			page.Items = append(page.Items, i)
		}
	}
	return page, nil
}

func (w *world) Delete(ctx context.Context, keys []backlog.Key) []error {
	errs := make([]error, len(keys))
	unlock, err := w.call(ctx, "", backlog.Key{})
	defer unlock()
	for n, key := range keys {
		if errs[n] = err; err == nil && w.refuses("Delete", key) {
			errs[n] = errThrottled
		}
		if errs[n] == nil {
			delete(w.waiting, key)
		}
	}
	return errs
}

func (w *world) PutBack(ctx context.Context, item backlog.Item) (bool, error) {
	unlock, err := w.call(ctx, "PutBack", item.Key)
	defer unlock()
	i, found := w.waiting[item.Key]
	if err == nil && found {
		i.DueAt, i.Held = item.DueAt, false
		w.waiting[item.Key] = i
	}
	return found, err
}

func (w *world) All(ctx context.Context) (items []circuit.Item, slow map[string]time.Time, err error) {
	unlock, err := w.call(ctx, "All", backlog.Key{})
	defer unlock()
	if err != nil {
		return nil, nil, err
	}
	return slices.Collect(maps.Values(w.circuits)), maps.Clone(w.slow), nil
}

func (w *world) Store(ctx context.Context, was, next circuit.Item) (circuit.Item, bool, error) {
	unlock, err := w.call(ctx, "Store", backlog.Key{})
	defer unlock()
	stored := w.circuits[was.EndpointID]
	if err != nil || stored.Version != was.Version {
		return stored, false, err
	}
	next.HeldUntil = stored.HeldUntil
	w.circuits[was.EndpointID] = next
	return next, true, nil
}

func (w *world) Clear(ctx context.Context, i circuit.Item) (bool, error) {
	return w.end(ctx, i, func(stored circuit.Item) {
		stored.HeldUntil = time.Time{}
		w.circuits[i.EndpointID] = stored
	})
}

func (w *world) Remove(ctx context.Context, i circuit.Item) (bool, error) {
	return w.end(ctx, i, func(circuit.Item) { delete(w.circuits, i.EndpointID) })
}

func (w *world) end(ctx context.Context, i circuit.Item, do func(stored circuit.Item)) (bool, error) {
	unlock, err := w.call(ctx, "Remove", backlog.Key{})
	defer unlock()
	stored := w.circuits[i.EndpointID]
	if err != nil || stored.Version != i.Version || !stored.HeldUntil.Equal(i.HeldUntil) {
		return false, err
	}
	do(stored)
	return true, nil
}

func (w *world) ForgetSlow(ctx context.Context, tenantID string, until time.Time) error {
	unlock, err := w.call(ctx, "ForgetSlow", backlog.Key{})
	defer unlock()
	if err == nil && w.slow[tenantID].Equal(until) {
		delete(w.slow, tenantID)
	}
	return err
}

func (w *world) Read(
	ctx context.Context, keys []dynamo.EndpointKey, _ map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	unlock, err := w.call(ctx, "Read", backlog.Key{})
	defer unlock()
	if err != nil {
		return nil, err
	}
	readings := map[dynamo.EndpointKey]dynamo.Reading{}
	for _, key := range keys {
		r := dynamo.Reading{Circuit: w.circuits[key.EndpointID], CircuitRead: !w.refuses("Circuit", backlog.Key{})}
		if e := w.endpoints[key.EndpointID]; e.Live() && e.ID != "" && e.TenantID == key.TenantID { // the whole key
			r.Endpoint, r.Found = e, true
		}
		switch {
		case w.refuses("ReadOf", backlog.Key{EndpointID: key.EndpointID}):
			r = dynamo.Reading{Err: errThrottled}
		case w.refuses("Row", backlog.Key{}):
			r = dynamo.Reading{Err: endpoint.ErrUnreadable, Found: true}
		}
		readings[key] = r
	}
	return readings, nil
}

// Put takes no notice where "Bus" is refused, and not the first of a call where "First" is.
func (w *world) Put(_ context.Context, notices []notice.Notice) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := make([]error, len(notices))
	for n, one := range notices {
		if w.refuses("Bus", backlog.Key{}) || n == 0 && w.refuses("First", backlog.Key{}) {
			errs[n] = errThrottled
			continue
		}
		w.told = append(w.told, one)
	}
	return errs
}

func (w *world) Update(ctx context.Context, r delivery.Record) (bool, error) {
	unlock, err := w.call(ctx, "Update", backlog.Key{})
	defer unlock()
	if err == nil {
		w.records[r.DeliveryID] = r
	}
	return true, err
}

// queueOf is one of the queues.
type queueOf struct {
	*world
	name string
	took *[]message
}

// Send makes one call for ten messages, as queue.Sender does.
func (q queueOf) Send(ctx context.Context, messages []queue.Outgoing) []error {
	var errs []error
	for batch := range slices.Chunk(messages, 10) {
		unlock, err := q.call(ctx, q.name, backlog.Key{})
		for _, m := range batch {
			if errs = append(errs, err); err != nil {
				continue
			}
			text := func(name string) string { return *m.Attributes[name].StringValue }
			life, _ := delivery.DecodeLife(text("life"))
			*q.took = append(*q.took, message{
				ID: text("delivery_id"), Endpoint: text("endpoint_id"), Group: m.Group, Attempts: text("attempts"),
				Delay: m.Delay, Life: life, Body: m.Body, At: time.Now(),
			})
		}
		unlock()
	}
	return errs
}
