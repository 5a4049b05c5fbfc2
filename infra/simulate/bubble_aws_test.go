package main

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	stored "github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
)

// What follows is AWS as the handlers call it in a bubble.

// Read answers with what was stored when the batch was received; release, which has no batch, gets
// what is stored now.
func (w *worker) Read(_ context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	if err := w.refused(); err != nil {
		time.Sleep(refusal)
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	items := w.seen
	if items == nil {
		items = w.health
	}
	found := map[dynamo.EndpointKey]dynamo.Reading{}
	for _, k := range keys {
		made := w.began.Add(-time.Hour)
		found[k] = dynamo.Reading{Found: true, HealthRead: true, Endpoint: stored.Endpoint{
			ID: k.EndpointID, TenantID: k.TenantID, URL: "https://receiver.example/" + k.EndpointID,
			Status: stored.Active, CreatedAt: made, UpdatedAt: made, SecretVersion: 1,
		}, View: health.View{TenantID: k.TenantID, EndpointID: k.EndpointID, Endpoint: items[k.EndpointID]}}
	}
	return found, nil
}

func (w *worker) Open(context.Context, keyring.SecretID, []byte) (string, error) { return "whs_1", nil }

// Post is the receiver; the batch goes on a little later.
func (w *worker) Post(_ context.Context, r delivery.Request) delivery.Response {
	w.mu.Lock()
	number, _ := strconv.Atoi(strings.TrimPrefix(path.Base(r.URL), "webhook_"))
	a := w.scenario.script.answer(posting{int32(number), w.ids[idOf(r)], w.now()})
	w.mu.Unlock()
	w.posted.Store(true)
	time.Sleep(a.took + after)
	return delivery.Response{Status: a.status, Reason: a.reason(), Elapsed: a.took}
}

func idOf(r delivery.Request) string {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "wh-id") {
			return f.Value
		}
	}
	return ""
}

func (b *bubble) Acknowledge(_ context.Context, records []delivery.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now() < b.scenario.length {
		b.acknowledged += len(records)
	}
	return b.refused()
}

func (b *bubble) Update(context.Context, delivery.Record) (bool, error) { return true, b.refused() }

func (b *bubble) Apply(_ context.Context, write health.Write) (health.Item, bool, error) {
	if err := b.refused(); err != nil {
		return health.Item{}, false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	name := write.Item.EndpointID
	was := b.health[name]
	stored, applied := write.Apply(was)
	if applied {
		number, _ := strconv.Atoi(strings.TrimPrefix(name, "webhook_"))
		b.scenario.script.turned(turn{int32(number), b.now(), was, stored})
		if b.health[name] = stored; stored.Version == 0 {
			delete(b.health, name)
		}
	}
	return stored, applied, nil
}

func (b *bubble) Trouble(context.Context, int, string) (items []health.Item, next string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range b.health {
		items = append(items, i)
	}
	slices.SortFunc(items, func(a, b health.Item) int { return strings.Compare(a.EndpointID, b.EndpointID) })
	return items, "", b.refused()
}

func (w *worker) Notes(context.Context, time.Time) ([]health.Note, error) {
	return w.notes, w.refused()
}

// PutNote stores the note on one endpoint, queue and process.
func (b *bubble) PutNote(_ context.Context, n health.Note) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refused(); err != nil {
		return err
	}
	b.drop(n)
	b.notes[n] = true
	return nil
}

func (b *bubble) drop(n health.Note) {
	for old := range b.notes {
		if old.EndpointID == n.EndpointID && old.Queue == n.Queue && old.Process == n.Process {
			delete(b.notes, old)
		}
	}
}

func (b *bubble) DeleteNote(_ context.Context, n health.Note) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refused(); err != nil {
		return err
	}
	b.drop(n)
	return nil
}

func (b *bubble) SweepNotes(context.Context, time.Time) (int, error) { return 0, b.refused() }

func (b *bubble) Put(_ context.Context, items []backlog.Item) []error {
	return b.each(len(items), func(i int) {
		b.backlog.Put(items[i], time.Now())
		b.held = max(b.held, len(b.backlog.Items))
	})
}

func (b *bubble) Delete(_ context.Context, keys []backlog.Key) []error {
	return b.each(len(keys), func(i int) { b.backlog.Delete(keys[i], time.Now()) })
}

// each does something to a table for each item of a call.
func (b *bubble) each(n int, do func(i int)) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := slices.Repeat([]error{b.refused()}, n)
	for i := range errs {
		if errs[i] == nil {
			do(i)
		}
	}
	return errs
}

func (b *bubble) Redate(_ context.Context, k backlog.Key, due time.Time, held bool) (found bool, err error) {
	return found, b.each(1, func(int) { found = b.backlog.Redate(k, due, held, time.Now()) })[0]
}

func (b *bubble) ReadShard(
	_ context.Context, id string, shard int, after string, limit int,
) (page dynamo.Page, err error) {
	return page, b.each(1, func(int) { page = b.backlog.ReadShard(id, shard, after, limit) })[0]
}

func (b *bubble) Due(_ context.Context, shard int, until time.Time, limit int, _ string) (
	due []dynamo.Due, next string, err error,
) {
	err = b.each(1, func(int) { due = b.backlog.Due(shard, until, limit, time.Now()) })[0]
	return due, "", err
}

func (b *bubble) BatchGet(_ context.Context, keys []backlog.Key) (page dynamo.Page, err error) {
	return page, b.each(1, func(int) { page = b.backlog.BatchGet(keys) })[0]
}

// Send and ChangeVisibility are SQS, which does not refuse.
func (l *line) Send(_ context.Context, messages []queue.Outgoing) []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		l.add(m)
	}
	return make([]error, len(messages))
}

// sendsTo is RetryQueue, which is made after the processes of DeliveryQueue.
type sendsTo struct{ *bubble }

func (s sendsTo) Send(ctx context.Context, messages []queue.Outgoing) []error {
	return s.retries.Send(ctx, messages)
}

// grave is DeadLetterQueue.
type grave struct{ *bubble }

func (g grave) Send(_ context.Context, messages []queue.Outgoing) []error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead += len(messages)
	return make([]error, len(messages))
}

func (b *bubble) ChangeVisibility(_ context.Context, changes []queue.VisibilityChange) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range changes {
		b.retries.queue.ChangeVisibility(b.retries.receipt[c.ReceiptHandle], b.now(), awsmodel.Whole(c.Wait))
	}
	b.stir()
	return make([]error, len(changes))
}
