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

// asked is what a call found. What fails found nothing, also where it takes effect later: then nobody
// looks any more.
func asked[T any](ctx context.Context, p *process, name, key string, effect func() T) (found T, err error) {
	var got T
	if err := p.one(ctx, name, key, func() { got = effect() }); err != nil {
		return found, err
	}
	return got, nil
}

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
		if errs[i] == nil {
			errs[i] = gone[i]
		}
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
	key := ""
	for _, k := range keys {
		key = max(key, k.EndpointID)
	}
	found, err := asked(ctx, a.process, "Read Endpoints", key, func() map[dynamo.EndpointKey]dynamo.Reading {
		found := map[dynamo.EndpointKey]dynamo.Reading{}
		for _, k := range keys {
			e, ok := a.endpoints[k.EndpointID]
			found[k] = dynamo.Reading{
				Endpoint: e, Found: ok, View: health.View{TenantID: k.TenantID, EndpointID: k.EndpointID},
			}
		}
		return found
	})
	if err != nil {
		return nil, err
	}
	items, err := asked(ctx, a.process, "Read EndpointHealth", key, func() map[string]health.Item {
		items := map[string]health.Item{}
		for _, k := range keys {
			tenant := "tenant " + k.TenantID
			items[k.EndpointID], items[tenant] = item(k.EndpointID), item(tenant)
		}
		return items
	})
	if err != nil {
		return found, nil //nolint:nilerr // health may be unread
	}
	for _, k := range keys {
		r := found[k]
		r.View.Endpoint, r.View.Tenant, r.HealthRead = items[k.EndpointID], items["tenant "+k.TenantID], true
		found[k] = r
	}
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

func (a aws) Update(ctx context.Context, r delivery.Record) (bool, error) {
	return asked(ctx, a.process, "Write Deliveries", r.DeliveryID, func() bool {
		old := a.states[r.DeliveryID]
		written := old.State != delivery.Acknowledged && r.Replay >= old.Replay
		if written {
			a.states[r.DeliveryID] = r
		}
		return written
	})
}

func (a aws) Get(ctx context.Context, id string) (delivery.Record, bool, error) {
	r, err := asked(ctx, a.process, "Read Deliveries", id, func() *delivery.Record {
		if r, found := a.states[id]; found {
			return &r
		}
		return nil
	})
	if r == nil {
		return delivery.Record{}, false, err
	}
	return *r, true, err
}

func (a aws) Apply(ctx context.Context, write health.Write) (health.Item, bool, error) {
	if write.Kind == health.Nothing {
		return write.Item, true, nil
	}
	key := cmp.Or(write.Item.EndpointID, "tenant")
	type answer struct {
		stored  health.Item
		applied bool
	}
	got, err := asked(ctx, a.process, "Write EndpointHealth", key, func() (got answer) {
		got.stored, got.applied = a.store(write)
		return got
	})
	return got.stored, got.applied, err
}

func (a aws) Trouble(ctx context.Context, _ int, _ string) ([]health.Item, string, error) {
	items, err := asked(ctx, a.process, "Scan EndpointHealth", "", func() (items []health.Item) {
		for _, name := range sorted(a.health) {
			items = append(items, a.health[name])
		}
		return items
	})
	return items, "", err
}

func (a aws) Notes(ctx context.Context, _ time.Time) ([]health.Note, error) {
	return asked(ctx, a.process, "Read notes", "", func() (notes []health.Note) {
		for _, n := range a.notes {
			notes = append(notes, n)
		}
		return notes
	})
}

// keyOf is under which a process has one note at a time.
func keyOf(n health.Note) health.Note {
	return health.Note{EndpointID: n.EndpointID, Queue: n.Queue, Process: n.Process}
}

func (a aws) PutNote(ctx context.Context, n health.Note) error {
	return a.one(ctx, "Write notes", "put "+n.EndpointID, func() { a.notes[keyOf(n)] = n })
}

func (a aws) DeleteNote(ctx context.Context, n health.Note) error {
	return a.one(ctx, "Write notes", "delete "+n.EndpointID, func() { delete(a.notes, keyOf(n)) })
}

func (a aws) SweepNotes(ctx context.Context, before time.Time) (int, error) {
	return asked(ctx, a.process, "Write notes", "sweep", func() (swept int) {
		for key, n := range a.notes {
			if n.Until.Before(before) {
				delete(a.notes, key)
				swept++
			}
		}
		return swept
	})
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

func (a aws) Redate(ctx context.Context, key backlog.Key, due time.Time, held bool) (bool, error) {
	return asked(ctx, a.process, "Redate Backlog", key.Position, func() bool {
		return a.backlog.Redate(key, due, held, time.Now())
	})
}

func (a aws) ReadShard(ctx context.Context, id string, shard int, after string, limit int) (dynamo.Page, error) {
	return asked(ctx, a.process, "Read Backlog", fmt.Sprint(id, "#", shard), func() dynamo.Page {
		return a.backlog.ReadShard(id, shard, after, limit)
	})
}

func (a aws) Due(ctx context.Context, shard int, until time.Time, limit int, _ string) (
	[]dynamo.Due, string, error,
) {
	due, err := asked(ctx, a.process, "Query by-due", fmt.Sprint(shard), func() []dynamo.Due {
		return a.backlog.Due(shard, until, limit, time.Now())
	})
	return due, "", err
}

func (a aws) BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error) {
	return asked(ctx, a.process, "Read Backlog", keys[0].Position, func() dynamo.Page { return a.backlog.BatchGet(keys) })
}

func (a aws) Create(ctx context.Context, r deadletter.Record) (bool, error) {
	return asked(ctx, a.process, "Write DeadLetters", r.DeliveryID, func() bool {
		key := life{r.DeliveryID, r.Replay}
		written := a.sealed[key].IsZero()
		if written {
			a.sealed[key] = time.Now()
			a.note("%s died of %s", r.DeliveryID, r.Reason)
		}
		return written
	})
}

func (a aws) Append(ctx context.Context, r deadletter.Record) (bool, error) { return a.Create(ctx, r) }
