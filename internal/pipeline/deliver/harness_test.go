package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

var (
	schedule = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9} // 5 s, 20 s, 80 s, then long
	rules    = Rules{
		Schedule: schedule, Circuit: circuit.New(time.Minute, 30*time.Second),
		Allowance: allowance.New(200, 15*time.Second), PerEndpoint: 10, Attempt: 15 * time.Second,
	}
)

// rig is deliver on the model of AWS, with three endpoints of acme. Its clock is time.Now, which is fake in a bubble of
// synctest.
type rig struct {
	*testing.T // of the bubble
	aws        *model.Model
	inbox      *model.Model // an account of the messages that are received: sent ones are apart
	born       time.Time    // sent at, of every message
	respond    func(ctx context.Context, url string) delivery.Response
	rules      Rules

	mu      sync.Mutex
	posts   []delivery.Request
	calls   []string // reads, writes and sends, in their order
	held    []backlog.Item
	sent    map[string][]delivery.Message // by queue
	hidden  map[string]time.Duration      // by the name of a receipt handle
	handles map[string]string             // names of receipt handles
	logs    []string

	charged []time.Duration // since born
	asked   []int           // circuits, by each read
}

// in runs a test in a bubble, which has a fake clock.
func in(t *testing.T, respond func(context.Context, string) delivery.Response, do func(w *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { do(newRig(t, respond)) })
}

func newRig(t *testing.T, respond func(context.Context, string) delivery.Response) *rig {
	t.Helper()
	w := &rig{
		T: t, aws: model.New(), inbox: model.New(), born: time.Now(), respond: respond, rules: rules,
		sent: map[string][]delivery.Message{}, hidden: map[string]time.Duration{}, handles: map[string]string{},
	}
	w.aws.Made, w.aws.Sent, w.aws.Puts = w.made, w.took, func(i backlog.Item) {
		w.held, w.calls = append(w.held, i), append(w.calls, "Put")
	}
	for n := range 3 {
		id := fmt.Sprint("webhook_", n+1)
		w.aws.Endpoints[id] = endpoint.Endpoint{
			ID: id, TenantID: "acme", URL: "https://receiver.example/" + id, Status: endpoint.Active, SecretVersion: 1,
		}
	}
	return w
}

// The calls of the model, as tests have AWS refuse them.
const (
	readRows, readCircuits                = "Read Endpoints", "Read EndpointHealth"
	storeLease, storeState                = "Write EndpointHealth(" + model.LeaseKey, "Write EndpointHealth(webhook"
	putBacklog, writeStates, chargeTenant = "Put Backlog", "Write Deliveries", "Charge"
	sendRetry, sendSlow, sendDead         = "Send RetryQueue", "Send SlowQueue", "Send DeadLetterQueue"
	takeSlots                             = "Take slots"
	openSecret, hide                      = "KMS Decrypt", "ChangeVisibility"
)

// refuses has AWS refuse all calls of a kind.
func (w *rig) refuses(call string) { w.meets(call, model.Refused) }

func (w *rig) meets(call string, v model.Verdict) {
	w.aws.On(call, 0, v)
	w.inbox.On(call, 0, v)
}

// made keeps calls, under short names.
func (w *rig) made(name, key string) {
	short := map[string]string{readRows: "Read", openSecret: "Open", writeStates: "States", takeSlots: "Take"}[name]
	switch {
	case name == "Write EndpointHealth" && strings.HasPrefix(key, model.LeaseKey):
		short = "Hold"
	case name == "Write EndpointHealth":
		short = "Store"
	}
	if short != "" {
		w.calls = append(w.calls, short)
	}
}

// took keeps the messages that a queue takes.
func (w *rig) took(q *model.Queue, r events.SQSMessage) {
	m, err := queue.Decode(r)
	if err != nil {
		w.Error(err)
	}
	name := strings.TrimSuffix(q.Name, "Queue")
	w.sent[name] = append(w.sent[name], m)
}

// slowUntil is acme's moment.
func (w *rig) slowUntil() time.Time { return w.aws.Slow["acme"] }

// chargedSince is what acme is charged, of which half a second a second is paid for.
func (w *rig) chargedSince(began time.Time) time.Duration {
	if w.slowUntil().IsZero() {
		return 0
	}
	return w.slowUntil().Sub(began) / 2
}

func (w *rig) slow() { w.aws.Slow["acme"] = time.Now().Add(6 * time.Hour) }

// acknowledged are the deliveries that are recorded so.
func (w *rig) acknowledged() (n int) {
	for _, r := range w.aws.States {
		if r.State == delivery.Acknowledged {
			n++
		}
	}
	return n
}

// reader tells how many circuits are asked for.
type reader struct {
	model.Reader
	w *rig
}

func (r reader) Read(
	ctx context.Context, keys []dynamo.EndpointKey, quiet map[dynamo.EndpointKey]bool,
) (map[dynamo.EndpointKey]dynamo.Reading, error) {
	r.w.mu.Lock()
	r.w.asked = append(r.w.asked, len(keys)-len(quiet))
	r.w.mu.Unlock()
	return r.Reader.Read(ctx, keys, quiet)
}

// circuits tells when tenants are charged.
type circuits struct {
	model.Circuits
	w *rig
}

func (c circuits) Charge(ctx context.Context, tenantID string, d time.Duration, now time.Time) (time.Time, error) {
	until, err := c.Circuits.Charge(ctx, tenantID, d, now)
	if err == nil {
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		c.w.charged = append(c.w.charged, now.Sub(c.w.born))
	}
	return until, err
}

// hider tells for how long messages are hidden.
type hider struct {
	model.Hider
	w *rig
}

func (h hider) ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error {
	errs := h.Hider.ChangeVisibility(ctx, changes)
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	for n, c := range changes {
		if errs[n] == nil {
			h.w.hidden[h.w.handles[c.ReceiptHandle]] = c.Wait
		}
	}
	return errs
}

// secrets open without KMS: each version has its own.
type secrets struct{ model.Keys }

func (s secrets) Open(ctx context.Context, id keyring.SecretID, sealed []byte) (string, error) {
	if id.Headers {
		return string(sealed), nil
	}
	_, err := s.Keys.Open(ctx, id, sealed)
	return "whsec_" + fmt.Sprint(id.Version), err
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

// Post is a receiver: no part of AWS.
func (w *rig) Post(ctx context.Context, r delivery.Request) delivery.Response {
	w.mu.Lock()
	w.posts = append(w.posts, r)
	w.mu.Unlock()
	return w.respond(ctx, r.URL)
}

func (w *rig) handler() *Handler {
	p, received := w.aws.Process("deliver"), w.inbox.Process("deliver")
	return &Handler{
		Tables: Tables{
			Endpoints: reader{p.Reader(true), w}, Circuits: circuits{p.Circuits().WithoutNotices(), w},
			Rates: p.Rates(), Backlog: p.Backlog(), Deliveries: p.Deliveries(),
		},
		Queues: Queues{
			Retry: p.Sender(w.aws.RetryQueue), Slow: p.Sender(w.aws.SlowQueue), DeadLetter: p.Sender(w.aws.DeadLetterQueue),
			Hide: map[delivery.Queue]Visibility{
				delivery.RetryQueue: hider{received.Hider(w.inbox.RetryQueue), w},
				delivery.SlowQueue:  hider{received.Hider(w.inbox.SlowQueue), w},
			},
			ARNs: map[string]delivery.Queue{"retry": delivery.RetryQueue, "slow": delivery.SlowQueue},
		},
		Secrets: secrets{p.Keys()},
		Tokens:  &tokens.Keeper{Server: p.Asker(), Shared: p.Tokens(), Patience: token.Patience, Now: time.Now},
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
func (w *rig) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs = append(w.logs, string(line))
	return len(line), nil
}

// logged reports whether a line has all these texts.
func (w *rig) logged(texts ...string) bool {
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
func (w *rig) process(records ...events.SQSMessage) (returned []string) {
	w.Helper()
	return w.processBy(w.handler(), records...)
}

func (w *rig) processBy(h *Handler, records ...events.SQSMessage) (returned []string) {
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
func (w *rig) on(from string, receives int, m delivery.Message) events.SQSMessage {
	r := events.SQSMessage{
		MessageId: "id-" + m.EventID, Body: string(m.Body), EventSourceARN: from,
		Attributes: sqsevent.System(w.born, receives), MessageAttributes: sqsevent.Attributes(queue.Attributes(m)),
	}
	q := map[string]*model.Queue{"retry": w.inbox.RetryQueue, "slow": w.inbox.SlowQueue}[from]
	if q == nil { // deliver hides nothing on DeliveryQueue
		return r
	}
	w.inbox.Mu.Lock()
	defer w.inbox.Mu.Unlock()
	q.Send(queue.Outgoing{Body: r.Body, Attributes: queue.Attributes(m)})
	for last := fmt.Sprint(q.Name, "-", q.Sent); r.ReceiptHandle == ""; {
		for _, received := range q.Receive() { // and others, which are visible again
			if received.MessageId == last {
				r.ReceiptHandle = received.ReceiptHandle
			}
		}
	}
	w.handles[r.ReceiptHandle] = "handle-" + m.EventID
	return r
}

// as is a message under other names.
func (w *rig) as(name string, r events.SQSMessage) events.SQSMessage {
	r.MessageId = "id-" + name
	w.handles[r.ReceiptHandle] = "handle-" + name
	return r
}

func (w *rig) fresh(event, endpointID string) events.SQSMessage {
	return w.on("delivery", 1, message(event, endpointID))
}

// retried is a delivery on RetryQueue that has used so many places.
func (w *rig) retried(event, endpointID string, attempts int) events.SQSMessage {
	m := message(event, endpointID)
	m.Attempts, m.Life = attempts, delivery.Life{StartedAt: w.born, DueAt: w.born}
	return w.on("retry", 1, m)
}
