package release

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const (
	acme = "acme"
	hook = "webhook_1"
)

var errThrottled = errors.New("throttled")

// account is an account of the model of AWS with release on it, in the fake time of a bubble of synctest. The model
// keeps the state. Tests add faults: of whole calls, and of single items in a call.
type account struct {
	*testing.T
	*model.Model
	latency time.Duration // of every call
	notices bool          // owners are told
	contact bool          // and their contact is in it

	// refuses has a call refused, by the names in calls. A call for many items is also asked about each of them, under
	// the name of the call and "Of", with the item's key. It is asked by one call at a time.
	refuses func(call string, k backlog.Key) bool

	mu     sync.Mutex
	calls  map[string]int
	sent   []message // to RetryQueue
	buried []message // to DeadLetterQueue
	told   []notice.Notice
	put    int
	logs   bytes.Buffer // with the metrics
}

// message is one that a queue took.
type message struct {
	ID, Endpoint, Group, Attempts string
	Delay                         time.Duration
	Life                          delivery.Life
	Body                          string
	At                            time.Time
}

// inAccount runs a test with an empty account.
func inAccount(t *testing.T, do func(a *account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &account{T: t, Model: model.New(), calls: map[string]int{}}
		a.refuse("")
		a.Judge = a.judge
		do(a)
	})
}

// inAccounts runs a test of each row, each with an empty account.
func inAccounts[R any](t *testing.T, rows map[string]R, do func(a *account, name string, row R)) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) { inAccount(t, func(a *account) { do(a, name, row) }) })
	}
}

// names are the calls of the model as refuses and calls know them.
var names = map[string]string{
	"Query by-due": "Due", "Delete Backlog": "Delete", "Put back Backlog": "PutBack",
	"Scan EndpointHealth": "All", "Write EndpointHealth": "Store", "Charge": "ForgetSlow", "Take slots": "Take",
	"Read Endpoints": "Read", "Read EndpointHealth": "Circuit", "Write Deliveries": "Update",
	"Send RetryQueue": "RetryQueue", "Send DeadLetterQueue": "DeadLetterQueue",
}

// judge counts a call, lets it take its time, and has it refused where the test says so.
func (a *account) judge(c *model.Call) model.Verdict {
	name, known := names[c.Name]
	var k backlog.Key
	switch shard, isShard := strings.CutPrefix(c.Key, "webhook_"); {
	case known:
	case isShard:
		name = "ReadShard"
		k = keyOfShard("webhook_" + shard)
	default:
		name = "BatchGet"
	}
	if name != "Circuit" { // which is read at the same time as the rows
		a.wait(c.Context)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[name]++
	if a.refuses(name, k) {
		return model.Refused
	}
	return model.Done
}

// wait waits for as long as a call takes.
func (a *account) wait(ctx context.Context) {
	took, cancel := context.WithTimeout(ctx, a.latency)
	defer cancel()
	<-took.Done()
}

// keyOfShard is the shard that a call reads.
func keyOfShard(name string) backlog.Key {
	at := strings.LastIndexByte(name, '#')
	var shard int
	_, _ = fmt.Sscan(name[at+1:], &shard) // the model wrote it
	return backlog.Key{EndpointID: name[:at], Shard: shard}
}

// of reports whether a call is refused for one of its items.
func (a *account) of(call string, k backlog.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refuses(call+"Of", k)
}

// table is the table Backlog, with partitions that refuse.
type table struct {
	model.BacklogTable
	a *account
}

// Delete deletes the items that their partitions let go.
func (t table) Delete(ctx context.Context, items []backlog.Item) []error {
	errs := make([]error, len(items))
	var taken []backlog.Item
	for n, i := range items {
		if t.a.of("Delete", i.Key) {
			errs[n] = errThrottled
			continue
		}
		taken = append(taken, i)
	}
	if len(taken) == 0 {
		t.a.wait(ctx)
		return errs
	}
	answers := t.BacklogTable.Delete(ctx, taken)
	for n := range errs {
		if errs[n] == nil {
			errs[n] = answers[0]
			answers = answers[1:]
		}
	}
	return errs
}

// BatchGet reads the items that their partitions show.
func (t table) BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error) {
	page, err := t.BacklogTable.BatchGet(ctx, keys)
	if err != nil {
		return dynamo.Page{Unread: keys}, err
	}
	hidden := map[backlog.Key]bool{}
	for _, k := range keys {
		if t.a.of("BatchGet", k) {
			hidden[k] = true
			page.Unread = append(page.Unread, k)
			err = errThrottled
		}
	}
	page.Items = slices.DeleteFunc(page.Items, func(i backlog.Item) bool { return hidden[i.Key] })
	return page, err
}

// health is the table EndpointHealth, which may refuse a deletion and no other write.
type health struct {
	model.Circuits
	a *account
}

func (h health) Clear(ctx context.Context, i circuit.Item) (bool, error) {
	if h.a.of("Remove", backlog.Key{}) {
		return false, errThrottled
	}
	return h.Circuits.Clear(ctx, i)
}

func (h health) Remove(ctx context.Context, i circuit.Item) (bool, error) {
	if h.a.of("Remove", backlog.Key{}) {
		return false, errThrottled
	}
	return h.Circuits.Remove(ctx, i)
}

// reader reads endpoints, of which single rows may be throttled or unreadable.
type reader struct {
	model.Reader
	a *account
}

func (r reader) Read(
	ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	readings, err := r.Reader.Read(ctx, keys, quiet)
	for key := range readings {
		k := backlog.Key{EndpointID: key.EndpointID}
		switch {
		case r.a.of("Read", k):
			readings[key] = dynamo.Reading{Err: errThrottled}
		case r.a.of("Row", k):
			readings[key] = dynamo.Reading{Err: endpoint.ErrUnreadable, Gate: endpoint.Gate{Found: true}}
		}
	}
	return readings, err
}

// line is one of the queues, with the messages that it took.
type line struct {
	model.Sender
	a    *account
	took *[]message
}

// Send makes one call for ten messages, as queue.Sender does.
func (l line) Send(ctx context.Context, messages []queue.Outgoing) (errs []error) {
	for batch := range slices.Chunk(messages, 10) {
		answers := l.Sender.Send(ctx, batch)
		errs = append(errs, answers...)
		l.a.mu.Lock()
		for n, m := range batch {
			if answers[n] == nil {
				*l.took = append(*l.took, messageOf(m))
			}
		}
		l.a.mu.Unlock()
	}
	return errs
}

func messageOf(m queue.Outgoing) message {
	text := func(name string) string { return *m.Attributes[name].StringValue }
	life, _ := delivery.DecodeLife(text("life")) // none is the zero life
	return message{
		ID: text("delivery_id"), Endpoint: text("endpoint_id"), Group: m.Group, Attempts: text("attempts"),
		Delay: m.Delay, Life: life, Body: m.Body, At: time.Now(),
	}
}

// Put takes no notice where "Bus" is refused, and not the first of a call where "First" is.
func (a *account) Put(_ context.Context, notices []notice.Notice) []error {
	a.mu.Lock()
	defer a.mu.Unlock()
	errs := make([]error, len(notices))
	for n, one := range notices {
		if a.refuses("Bus", backlog.Key{}) || n == 0 && a.refuses("First", backlog.Key{}) {
			errs[n] = errThrottled
			continue
		}
		a.told = append(a.told, one)
	}
	return errs
}

func (a *account) handler() *Handler {
	p := a.Process("release")
	h := &Handler{
		Backlog: table{p.Backlog(), a}, Circuits: health{p.Circuits(), a}, Endpoints: reader{p.Reader(false), a},
		Records: p.Deliveries(), Rates: p.Rates(),
		RetryQueue:      line{p.Sender(a.RetryQueue), a, &a.sent},
		DeadLetterQueue: line{p.Sender(a.DeadLetterQueue), a, &a.buried},
		Wake:            func(context.Context) error { return nil }, // there is no job
		Settings:        circuit.New(time.Minute, 30*time.Second),
		Schedule:        retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9},
		Allowance:       allowance.New(200, 15*time.Second),
		Log:             slog.New(slog.NewJSONHandler(&a.logs, nil)),
		Metrics:         telemetry.NewMetrics(&a.logs, "test", "release", time.Now),
		Now:             time.Now, Random: func() float64 { return 0.5 },
	}
	if a.notices {
		h.Bus, h.Settings.Notices = a, true
	}
	if a.contact {
		h.Contacts = owners{p.Endpoints(), a}
	}
	return h
}

// run runs release once, within Lambda's timeout, and returns how long it took.
func (a *account) run() time.Duration {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), 50*time.Second)
	defer cancel()
	began := time.Now()
	if err := a.handler().Run(ctx); err != nil {
		a.Error(err)
	}
	return time.Since(began)
}

// minutes is a run at the beginning of each of so many minutes.
func (a *account) minutes(n int) {
	a.Helper()
	for range n {
		next := time.Now().Add(time.Minute)
		a.run()
		time.Sleep(time.Until(next))
	}
}

// due is an item for its schedule at the sixth place, due so far from now, which was stored an hour ago.
func (a *account) due(id string, in time.Duration, change ...func(*backlog.Item)) backlog.Item {
	a.put++
	created := time.Now().Add(-time.Hour).Add(time.Duration(a.put) * time.Millisecond)
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%06d", a.put), TenantID: tenantOf(id), EndpointID: id, EventID: "event_1",
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
	a.Backlog.Set(i, time.Now())
	a.known(id)
	return i
}

// held are items that wait for their endpoint, and were due half an hour ago.
func (a *account) held(id string, n int, change ...func(*backlog.Item)) (items []backlog.Item) {
	hold := func(i *backlog.Item) { i.Held, i.DueAt = true, i.Message.Life.StartedAt.Add(retry.MaxLife) }
	for range n {
		items = append(items, a.due(id, -30*time.Minute, append([]func(*backlog.Item){hold}, change...)...))
	}
	return items
}

// changeAll changes all items that wait.
func (a *account) changeAll(change func(*backlog.Item)) {
	for _, i := range a.Backlog.Items {
		change(&i)
		a.Backlog.Set(i, time.Now())
	}
}

// tenantOf is the tenant of an endpoint: acme, or the part of its id behind '@'.
func tenantOf(id string) string {
	if _, tenant, other := strings.Cut(id, "@"); other {
		return tenant
	}
	return acme
}

func (a *account) known(id string) {
	if _, known := a.Endpoints[id]; !known {
		a.Endpoints[id] = endpoint.Endpoint{ID: id, TenantID: tenantOf(id), Status: endpoint.Active}
	}
}

// store stores the circuit of an endpoint with a lease. The circuit's state begins now.
func (a *account) store(id string, state circuit.State, change ...func(*circuit.Item)) {
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
	a.Circuits[id] = i
	a.known(id)
}

// shard are the keys that wait in a partition.
func (a *account) shard(of partition) (keys []backlog.Key) {
	for key := range a.Backlog.Items {
		if key.EndpointID == of.endpointID && key.Shard == of.shard {
			keys = append(keys, key)
		}
	}
	return keys
}

// refuse has calls of this name refused; of none, nothing is.
func (a *account) refuse(name string) {
	a.refuses = func(call string, _ backlog.Key) bool { return call != "" && call == name }
}

// change changes an endpoint.
func (a *account) change(id string, f func(*endpoint.Endpoint)) {
	e := a.Endpoints[id]
	f(&e)
	a.Endpoints[id] = e
}

// during has another process change webhook_1's circuit while a call is made.
func (a *account) during(call string, change func(i *circuit.Item)) {
	a.refuses = func(made string, _ backlog.Key) bool {
		if made == call {
			a.Mu.Lock()
			defer a.Mu.Unlock()
			i := a.Circuits[hook]
			change(&i)
			a.Circuits[hook] = i
		}
		return false
	}
}

// left are the deliveries that wait for an endpoint.
func (a *account) left(id string) (ids []string) {
	for key, i := range a.Backlog.Items {
		if key.EndpointID == id {
			ids = append(ids, i.Message.DeliveryID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (a *account) sentTo() map[string]int {
	to := map[string]int{}
	for _, m := range a.sent {
		to[m.Endpoint]++
	}
	return to
}

func (a *account) logged(texts ...string) {
	a.Helper()
	for _, text := range texts {
		if !strings.Contains(a.logs.String(), text) {
			a.Errorf("no %s in\n%s", text, a.logs.String())
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
