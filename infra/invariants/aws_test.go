package invariants

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
)

// aws is the world as a process calls it. Its methods are those of the stores and queues.
type aws struct{ *process }

// sender is one queue.
type sender struct {
	*process
	to *sqs
}

func (s sender) Send(ctx context.Context, messages []queue.Outgoing) []error {
	if len(messages) == 0 {
		return nil
	}
	return s.many(ctx, "Send "+s.to.name, lifeOf(messages[0]).id, len(messages), func(i int) { s.to.send(messages[i]) })
}

func (a aws) ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error {
	if len(changes) == 0 {
		return nil
	}
	gone := make([]error, len(changes))
	errs := a.many(ctx, "ChangeVisibility", changes[0].ReceiptHandle, len(changes), func(i int) {
		gone[i] = a.retries.hide(changes[i].ReceiptHandle, changes[i].Wait)
	})
	for i := range errs {
		errs[i] = cmp.Or(errs[i], gone[i])
	}
	return errs
}

func (a aws) Read(ctx context.Context, keys []dynamo.EndpointKey) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	return a.read(ctx, keys, func(name string) health.Item { return a.health[name] })
}

// read reads endpoints by one call and their health by another, which may fail alone.
func (a aws) read(
	ctx context.Context, keys []dynamo.EndpointKey, item func(name string) health.Item,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	w, found := a.world, map[dynamo.EndpointKey]dynamo.Reading{}
	key := ""
	for _, k := range keys {
		key = max(key, k.EndpointID)
	}
	err := a.one(ctx, "Read Endpoints", key, func() {
		for _, k := range keys {
			e, ok := w.endpoints[k.EndpointID]
			found[k] = dynamo.Reading{
				Endpoint: e, Found: ok, View: health.View{TenantID: k.TenantID, EndpointID: k.EndpointID},
			}
		}
	})
	if err != nil {
		return nil, err
	}
	_ = a.one(ctx, "Read EndpointHealth", key, func() {
		for _, k := range keys {
			r := found[k]
			r.View.Endpoint, r.View.Tenant, r.HealthRead = item(k.EndpointID), item("tenant "+k.TenantID), true
			found[k] = r
		}
	})
	return found, nil
}

func (a aws) Open(ctx context.Context, id keyring.SecretID, _ []byte) (string, error) {
	return "whs_1", a.one(ctx, "KMS Decrypt", id.EndpointID, func() {})
}

func (a aws) Generate(ctx context.Context, _ map[string]string) (plain, wrapped []byte, err error) {
	return make([]byte, 32), []byte("wrapped"), a.one(ctx, "KMS GenerateDataKey", "", func() {})
}

func (a aws) Unwrap(context.Context, map[string]string, []byte) ([]byte, error) { return nil, errAWS }

// Post is the receiver.
func (a aws) Post(ctx context.Context, r delivery.Request) delivery.Response {
	w, endpointID, id := a.world, path.Base(r.URL), r.Header[2].Value
	status, began := 0, time.Now()
	err := a.one(ctx, "POST", endpointID+"/"+id, func() {
		status = w.receivers[endpointID](id)
		w.posts = append(w.posts, post{endpointID, id, time.Now(), status})
		t := w.truth[life{id, 0}]
		t.posts = append(t.posts, time.Now())
		t.acked = t.acked || status/100 == 2
		w.note("%s: POST of %s to %s: %d", a.name, id, endpointID, status)
	})
	if err != nil || status == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(hangs):
		}
		return delivery.Response{Reason: delivery.ReasonTimeout, Elapsed: time.Since(began)}
	}
	return delivery.Response{Status: status, Reason: delivery.StatusReason(status), Elapsed: time.Since(began)}
}

func (a aws) Acknowledge(ctx context.Context, records []delivery.Record) error {
	if len(records) == 0 {
		return nil
	}
	return a.one(ctx, "Write Deliveries", "acknowledged", func() {
		for _, r := range records {
			a.states[r.DeliveryID] = r
		}
	})
}

func (a aws) Update(ctx context.Context, r delivery.Record) (written bool, err error) {
	err = a.one(ctx, "Write Deliveries", r.DeliveryID, func() {
		old := a.states[r.DeliveryID]
		written = old.State != delivery.Acknowledged && r.Replay >= old.Replay
		if written {
			a.states[r.DeliveryID] = r
		}
	})
	return written, err
}

func (a aws) Get(ctx context.Context, id string) (r delivery.Record, found bool, err error) {
	err = a.one(ctx, "Read Deliveries", id, func() { r, found = a.states[id] })
	return r, found, err
}

func (a aws) Apply(ctx context.Context, write health.Write) (stored health.Item, applied bool, err error) {
	if write.Kind == health.Nothing {
		return write.Item, true, nil
	}
	key := cmp.Or(write.Item.EndpointID, "tenant")
	err = a.one(ctx, "Write EndpointHealth", key, func() { stored, applied = a.store(write) })
	return stored, applied, err
}

func (a aws) Trouble(ctx context.Context, _ int, _ string) (items []health.Item, next string, err error) {
	err = a.one(ctx, "Scan EndpointHealth", "", func() {
		for _, name := range sorted(a.health) {
			items = append(items, a.health[name])
		}
	})
	return items, "", err
}

func (a aws) Notes(ctx context.Context, _ time.Time) (notes []health.Note, err error) {
	err = a.one(ctx, "Read notes", "", func() {
		for n := range a.notes {
			notes = append(notes, n)
		}
	})
	return notes, err
}

func (a aws) PutNote(ctx context.Context, n health.Note) error {
	return a.one(ctx, "Write notes", "put "+n.EndpointID, func() { a.notes[n] = true })
}

func (a aws) DeleteNote(ctx context.Context, n health.Note) error {
	return a.one(ctx, "Write notes", "delete "+n.EndpointID, func() { delete(a.notes, n) })
}

func (a aws) SweepNotes(ctx context.Context, before time.Time) (swept int, err error) {
	err = a.one(ctx, "Write notes", "sweep", func() {
		for n := range a.notes {
			if n.Until.Before(before) {
				delete(a.notes, n)
				swept++
			}
		}
	})
	return swept, err
}

func (a aws) Put(ctx context.Context, items []backlog.Item) []error {
	if len(items) == 0 {
		return nil
	}
	return a.many(ctx, "Put Backlog", items[0].Message.DeliveryID, len(items), func(i int) {
		item := items[i]
		a.note("%s: parks %s of %s, held %v", a.name, item.Message.DeliveryID, item.EndpointID, item.Held)
		a.backlog.Put(item, time.Now())
	})
}

func (a aws) Delete(ctx context.Context, keys []backlog.Key) []error {
	return a.many(ctx, "Delete Backlog", keys[0].Position, len(keys), func(i int) {
		a.backlog.Delete(keys[i], time.Now())
	})
}

func (a aws) Redate(ctx context.Context, key backlog.Key, due time.Time, held bool) (found bool, err error) {
	err = a.one(ctx, "Redate Backlog", key.Position, func() {
		found = a.backlog.Redate(key, due, held, time.Now())
	})
	return found, err
}

func (a aws) ReadShard(ctx context.Context, id string, shard int, after string, limit int) (page dynamo.Page, err error) {
	err = a.one(ctx, "Read Backlog", fmt.Sprint(id, "#", shard), func() {
		page = a.backlog.ReadShard(id, shard, after, limit)
	})
	return page, err
}

func (a aws) Due(ctx context.Context, shard int, until time.Time, limit int, _ string) (
	due []dynamo.Due, next string, err error,
) {
	err = a.one(ctx, "Query by-due", fmt.Sprint(shard), func() {
		due = a.backlog.Due(shard, until, limit, time.Now())
	})
	return due, "", err
}

func (a aws) BatchGet(ctx context.Context, keys []backlog.Key) (page dynamo.Page, err error) {
	err = a.one(ctx, "Read Backlog", keys[0].Position, func() { page = a.backlog.BatchGet(keys) })
	return page, err
}

func (a aws) Create(ctx context.Context, r deadletter.Record) (written bool, err error) {
	err = a.one(ctx, "Write DeadLetters", r.DeliveryID, func() {
		key := life{r.DeliveryID, r.Replay}
		if written = a.sealed[key].IsZero(); written {
			a.sealed[key] = time.Now()
			a.note("%s died of %s", r.DeliveryID, r.Reason)
		}
	})
	return written, err
}

func (a aws) Append(ctx context.Context, r deadletter.Record) (bool, error) { return a.Create(ctx, r) }
