package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var (
	errAWS   = errors.New("ThrottlingException")
	schedule = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9} // 5 s, 20 s, 80 s, then long
	rules    = Rules{
		Schedule: schedule, Circuit: circuit.New(time.Minute, 30*time.Second),
		Allowance: allowance.New(200, 15*time.Second), PerEndpoint: 10,
	}
)

// world is everything around the handler: receivers, tables, queues. Its clock is time.Now, which is
// fake in a bubble of synctest.
type world struct {
	*testing.T // of the bubble
	mu         sync.Mutex
	born       time.Time // sent at, of every message
	endpoints  map[string]endpoint.Endpoint
	tenant     endpoint.Marks
	circuits   map[string]circuit.Item
	slowUntil  time.Time
	respond    func(ctx context.Context, url string) delivery.Response
	rules      Rules

	blind  bool            // circuits cannot be read
	broken string          // the endpoint whose row is unreadable
	fails  map[string]bool // calls that AWS refuses, by their names in calls

	posts  []delivery.Request
	calls  []string // writes and sends, in their order
	held   []backlog.Item
	sent   map[string][]delivery.Message // by queue
	delays map[string]time.Duration      // by delivery id
	hidden map[string]time.Duration      // by receipt handle
	states map[string]delivery.Record
	acked  []delivery.Record
	logs   []string

	charged []time.Duration // since born
	asked   []int           // circuits, by each read
}

// in runs a test in a bubble, whose clock is fake.
func in(t *testing.T, respond func(context.Context, string) delivery.Response, do func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { do(newWorld(t, respond)) })
}

func newWorld(t *testing.T, respond func(context.Context, string) delivery.Response) *world {
	t.Helper()
	w := &world{
		T: t, born: time.Now(), endpoints: map[string]endpoint.Endpoint{}, circuits: map[string]circuit.Item{},
		respond: respond, rules: rules, fails: map[string]bool{}, sent: map[string][]delivery.Message{},
		delays: map[string]time.Duration{}, hidden: map[string]time.Duration{}, states: map[string]delivery.Record{},
	}
	for n := range 3 {
		id := fmt.Sprint("webhook_", n+1)
		w.endpoints[id] = endpoint.Endpoint{
			ID: id, TenantID: "acme", URL: "https://receiver.example/" + id, Status: endpoint.Active, SecretVersion: 1,
		}
	}
	return w
}

func status(code int) func(context.Context, string) delivery.Response {
	return func(context.Context, string) delivery.Response {
		return delivery.Response{Status: code, Reason: delivery.StatusReason(code), Elapsed: time.Millisecond}
	}
}

// hangs answers nothing for as long as an attempt may take.
func hangs(ctx context.Context, _ string) delivery.Response {
	select {
	case <-ctx.Done():
	case <-time.After(15 * time.Second):
	}
	return delivery.Response{Reason: delivery.ReasonTimeout, Elapsed: 15 * time.Second}
}

// do is one call of AWS.
func (w *world) do(name string, effect func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails[name] {
		return errAWS
	}
	w.calls = append(w.calls, name)
	effect()
	return nil
}

func (w *world) Read(
	_ context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	found := map[dynamo.EndpointKey]dynamo.Reading{}
	err := w.do("Read", func() {
		w.asked = append(w.asked, len(keys)-len(quiet))
		for _, key := range keys {
			e, ok := w.endpoints[key.EndpointID]
			ok = ok && e.TenantID == key.TenantID // the whole key
			r := dynamo.Reading{Endpoint: e, Found: ok, Tenant: w.tenant, CircuitRead: !w.blind && !quiet[key]}
			if r.CircuitRead {
				r.Circuit, r.SlowUntil = w.circuits[key.EndpointID], w.slowUntil
			}
			if found[key] = r; key.EndpointID == w.broken {
				found[key] = dynamo.Reading{Err: endpoint.ErrUnreadable, Found: true}
			}
		}
	})
	return found, err
}

func (w *world) Store(_ context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error) {
	err = w.do("Store", func() {
		stored, applied = w.circuits[was.EndpointID], w.circuits[was.EndpointID].Version == was.Version
		if applied {
			next.HeldUntil = stored.HeldUntil
			stored, w.circuits[was.EndpointID] = next, next
		}
	})
	return stored, applied, err
}

func (w *world) Hold(_ context.Context, key dynamo.EndpointKey, until, now time.Time) error {
	return w.do("Hold", func() {
		i := w.circuits[key.EndpointID]
		i.TenantID, i.EndpointID, i.Version = key.TenantID, key.EndpointID, max(i.Version, now.UnixNano())
		if until.After(i.HeldUntil) {
			i.HeldUntil = until
		}
		w.circuits[key.EndpointID] = i
	})
}

func (w *world) Charge(_ context.Context, _ string, d time.Duration, now time.Time) (until time.Time, err error) {
	err = w.do("Charge", func() {
		w.charged = append(w.charged, now.Sub(w.born))
		if w.slowUntil.Before(now) {
			w.slowUntil = now
		}
		w.slowUntil = w.slowUntil.Add(d)
		until = w.slowUntil
	})
	return until, err
}

func (w *world) MoveSlow(_ context.Context, _ string, _, to time.Time) error {
	return w.do("MoveSlow", func() { w.slowUntil = to })
}

func (w *world) Put(_ context.Context, items []backlog.Item) []error {
	errs := make([]error, len(items))
	for n := range items {
		errs[n] = w.do("Put", func() { w.held = append(w.held, items[n]) })
	}
	return errs
}

func (w *world) Open(_ context.Context, id keyring.SecretID, sealed []byte) (string, error) {
	if id.Headers {
		return string(sealed), nil
	}
	return "whsec_" + fmt.Sprint(id.Version), w.do("Open", func() {})
}

func (w *world) Post(ctx context.Context, r delivery.Request) delivery.Response {
	w.mu.Lock()
	w.posts = append(w.posts, r)
	w.mu.Unlock()
	return w.respond(ctx, r.URL)
}

func (w *world) Acknowledge(_ context.Context, records []delivery.Record) error {
	if len(records) == 0 {
		return nil
	}
	return w.do("States", func() { w.acked = append(w.acked, records...) })
}

func (w *world) Update(_ context.Context, r delivery.Record) (bool, error) {
	return true, w.do("States", func() { w.states[r.DeliveryID] = r })
}

// line is one queue that deliver sends to, or hides messages of.
type line struct {
	*world
	name string
}

func (l line) Send(_ context.Context, messages []queue.Outgoing) []error {
	errs := make([]error, len(messages))
	for n, out := range messages {
		errs[n] = l.do(l.name, func() {
			m, err := queue.Decode(events.SQSMessage{Body: out.Body, MessageAttributes: sqsevent.Attributes(out.Attributes)})
			if err != nil {
				panic(err)
			}
			l.sent[l.name] = append(l.sent[l.name], m)
			l.delays[m.DeliveryID] = out.Delay
		})
	}
	return errs
}

func (l line) ChangeVisibility(_ context.Context, changes []queue.VisibilityChange) []error {
	errs := make([]error, len(changes))
	for n, c := range changes {
		if l.fails[c.ReceiptHandle] {
			errs[n] = errAWS
			continue
		}
		errs[n] = l.do("Hide", func() { l.hidden[c.ReceiptHandle] = c.Wait })
	}
	return errs
}

func (w *world) handler() *Handler {
	return &Handler{
		Tables: Tables{Endpoints: w, Circuits: w, Backlog: w, Deliveries: w},
		Queues: Queues{
			Retry: line{w, "Retry"}, Slow: line{w, "Slow"}, DeadLetter: line{w, "DeadLetter"},
			Hide: map[delivery.Queue]Visibility{
				delivery.RetryQueue: line{w, ""}, delivery.SlowQueue: line{w, ""},
			},
			ARNs: map[string]delivery.Queue{"retry": delivery.RetryQueue, "slow": delivery.SlowQueue},
		},
		Secrets: w,
		Sender:  delivery.Sender{Client: w, UserAgent: "Herald/test", Now: time.Now},
		Rules:   w.rules,
		Output: Output{
			Log:     slog.New(slog.NewTextHandler(w, nil)),
			Metrics: telemetry.NewMetrics(w, "test", "deliver", time.Now), Sample: telemetry.Everything,
		},
		Now: time.Now, Random: func() float64 { return 0 },
	}
}

// Write takes lines of the log and of metrics.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs = append(w.logs, string(line))
	return len(line), nil
}

// logged reports whether a line has all these texts.
func (w *world) logged(texts ...string) bool {
	for _, line := range w.logs {
		all := true
		for _, text := range texts {
			all = all && strings.Contains(line, text)
		}
		if all {
			return true
		}
	}
	return false
}

// process runs one invocation of a new process.
func (w *world) process(records ...events.SQSMessage) (returned []string) {
	w.Helper()
	return w.processBy(w.handler(), records...)
}

func (w *world) processBy(h *Handler, records ...events.SQSMessage) (returned []string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	return h.Process(ctx, records)
}

// message is a delivery to an endpoint; event tells deliveries apart.
func message(event, endpointID string) delivery.Message {
	body := []byte(`{"type":"user.deleted","data":{}}`)
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: delivery.ID("acme", event, endpointID, delivery.ContentOf(body)),
			TenantID:   "acme", EndpointID: endpointID, EventID: event, CreatedAt: time.Unix(1_700_000_000, 0).UTC(),
		},
		Body: body,
	}
}

// on is the message as Lambda hands it over from a queue, received there so often.
func (w *world) on(from string, receives int, m delivery.Message) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "id-" + m.EventID, ReceiptHandle: "handle-" + m.EventID, Body: string(m.Body), EventSourceARN: from,
		Attributes: sqsevent.System(w.born, receives), MessageAttributes: sqsevent.Attributes(queue.Attributes(m)),
	}
}

func (w *world) fresh(event, endpointID string) events.SQSMessage {
	return w.on("delivery", 1, message(event, endpointID))
}

// retried is a delivery on RetryQueue that has used so many places.
func (w *world) retried(event, endpointID string, attempts int) events.SQSMessage {
	m := message(event, endpointID)
	m.Attempts, m.Life = attempts, delivery.Life{StartedAt: w.born, DueAt: w.born}
	return w.on("retry", 1, m)
}
