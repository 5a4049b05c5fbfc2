package replay

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var (
	errAWS = errors.New("ThrottlingException")
	at     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// world is the tables and queues around the handler. A process that has made its last call gets no answer any more.
type world struct {
	longest   int // letters that one page read
	letters   map[string]deadletter.Record
	order     []string                   // of the dead letters, by death
	endpoints map[string]endpoint.Status // nil: none can be read
	rejected  []rejected.Event
	jobs      map[string]job.Job
	lease     map[string]holder
	pages     map[int]job.Page
	now       func() time.Time
	queue     Rejected // of rejected events; nil: the world's own

	mu        sync.Mutex
	steps     []string // changes, in order
	audited   map[string]bool
	lines     map[string]audit.Line       // the last of each action
	mail      map[string][]queue.Outgoing // by queue
	restored  []string
	hidden    time.Duration // of the events that were received last
	unaudited bool          // the audit log takes nothing
	takes     time.Duration // to receive, or to erase a page
	reads     int           // of endpoints
	calls     int           // of this process
	last      int           // the process dies at this call, 0: never
	lost      bool          // the last call is done, and its answer lost
	log       bytes.Buffer
}

type holder struct {
	worker string
	until  time.Time
}

// newWorld has an active, a disabled and a deleted endpoint.
func newWorld(records ...deadletter.Record) *world {
	w := &world{
		letters: map[string]deadletter.Record{}, jobs: map[string]job.Job{}, lease: map[string]holder{},
		pages: map[int]job.Page{}, audited: map[string]bool{}, lines: map[string]audit.Line{},
		mail: map[string][]queue.Outgoing{},
		endpoints: map[string]endpoint.Status{
			"webhook_1": endpoint.Active, "webhook_deleted": endpoint.Deleted, "webhook_disabled": endpoint.Disabled,
			"webhook_narrowed": endpoint.Active,
		},
		now: func() time.Time { return at },
	}
	for _, r := range records {
		w.letters[r.DeliveryID] = r
		w.order = append(w.order, r.DeliveryID)
	}
	return w
}

// newStore is a world in fake time with dead letters of webhook_1, one a millisecond, an hour ago.
func newStore(t *testing.T, n int) *world {
	t.Helper()
	time.Sleep(time.Until(at.Add(time.Hour)))
	w := newWorld(deaths(t, n)...)
	w.now = time.Now
	return w
}

func deaths(t *testing.T, n int) []deadletter.Record {
	t.Helper()
	records := make([]deadletter.Record, n)
	for i := range records {
		r := deadLetter(t, nil)
		r.EventID = "evt_" + strconv.Itoa(i)
		r.DeliveryID = delivery.ID("acme", r.EventID, "webhook_1", delivery.ContentOf([]byte(body)))
		r.DiedAt = at.Add(time.Duration(i) * time.Millisecond)
		records[i] = seal(t, r)
	}
	return records
}

// handler is a new process.
func (w *world) handler() *Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = 0
	var events Rejected = w
	if w.queue != nil {
		events = w.queue
	}
	return &Handler{
		DeadLetters: letters{w}, States: w, Endpoints: endpoints{w}, Jobs: w, Vault: vault,
		Deliveries: box{w, "deliveries"}, Retries: box{w, "retries"}, Events: box{w, "events"}, Rejected: events,
		Erasure: w, Audit: w, Log: slog.New(slog.NewJSONHandler(&w.log, nil)), Now: w.now,
	}
}

func (w *world) invoke(ctx context.Context, t *testing.T, request string) string {
	t.Helper()
	if _, asked := lambdacontext.FromContext(ctx); !asked {
		ctx = named(ctx, ":"+ForGood) // which takes all
	}
	out, err := w.handler().Function().Invoke(ctx, []byte(request))
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return string(out)
}

func (w *world) ask(t *testing.T, request string) string {
	t.Helper()
	return w.invoke(t.Context(), t, request)
}

// named is the context of an invocation by the function's name with a suffix.
func named(ctx context.Context, behind string) context.Context {
	const function = "arn:aws:lambda:eu-central-1:111122223333:function:herald-prod-replay"
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{InvokedFunctionArn: function + behind})
}

// ask makes a request and decodes its answer.
func ask[T any](t *testing.T, w *world, request string) (answer T) {
	t.Helper()
	return testkit.Read[T](t, w.ask(t, request))
}

// refused is the code and field of a request's refusal.
func (w *world) refused(t *testing.T, request string) string {
	t.Helper()
	return testkit.Refusal(t, w.ask(t, request))
}

// call performs an AWS call, unless the process died before it.
func (w *world) call(do func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	if w.last == 0 || w.calls < w.last || w.calls == w.last && w.lost {
		do()
	}
	if w.last > 0 && w.calls >= w.last {
		return errAWS
	}
	return nil
}

// step is a call that changes something.
func (w *world) step(name string, do func()) error {
	return w.call(func() {
		w.steps = append(w.steps, name)
		do()
	})
}

// change is a step that begins a change of a dead letter. It is not made without a line in the audit log.
func (w *world) change(what, id, by string, do func()) error {
	return w.step(what+" "+id+by, func() {
		if _, erasing := w.lines["erase"]; !w.audited[id] && !erasing {
			panic(id + " is changed without an audit line")
		}
		do()
	})
}

func (w *world) Write(_ context.Context, lines ...audit.Line) error {
	if w.unaudited {
		return errAWS
	}
	return w.call(func() {
		for _, l := range lines {
			w.audited[l.DeliveryID], w.lines[l.Action] = true, l
			w.steps = append(w.steps, "audit "+l.Action+" "+l.DeliveryID+l.MessageID+" by "+l.OperatorClaimed)
		}
	})
}

var vault = deadletter.Vault{Keys: testkit.OneKey{}, Random: rand.Reader}

const body = `{"type":"user.deleted","data":{}}`

// good is an event that this version takes.
const good = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`

// deliveryID is that of deadLetter.
var deliveryID = delivery.ID("acme", "evt", "webhook_1", delivery.ContentOf([]byte(body)))

// deadLetter is a dead letter of webhook_1, changed after it was sealed.
func deadLetter(t *testing.T, change func(*deadletter.Record)) deadletter.Record {
	t.Helper()
	r := seal(t, deadletter.Record{
		Ref: delivery.Ref{
			DeliveryID: deliveryID, TenantID: "acme", EndpointID: "webhook_1", EventID: "evt", CreatedAt: at,
		},
		EventType: "user.deleted", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at, UpdatedAt: at,
	})
	if change != nil {
		change(&r)
	}
	return r
}

// seal seals body as the record's.
func seal(t *testing.T, r deadletter.Record) deadletter.Record {
	t.Helper()
	death := deadletter.Death{Body: []byte(body), Entry: deadletter.Entry{Reason: r.Reason}}
	sealed, err := vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = sealed
	return r
}
