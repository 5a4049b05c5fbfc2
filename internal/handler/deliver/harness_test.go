package deliver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const (
	deliveryARN = "arn:aws:sqs:eu-central-1:1:DeliveryQueue"
	retryARN    = "arn:aws:sqs:eu-central-1:1:RetryQueue"
)

// world is everything around the handler: a receiver, the stores and the queues it sends to.
type world struct {
	mu        sync.Mutex
	now       time.Time
	endpoints map[string]endpoint.Endpoint
	readErr   error
	secretErr error
	stateErr  error
	sendErr   error
	deadErr   error // of sends to DeadLetterQueue
	parkErr   error
	holdErr   error  // of writes of health
	blind     bool   // health cannot be read
	unsent    string // id of the only delivery that cannot be sent
	unchanged string // receipt handle of the only message whose visibility cannot be changed
	respond   func(ctx context.Context, url string) delivery.Response

	posts  []delivery.Request
	acked  []delivery.Record
	states []delivery.Record
	sent   []queue.Outgoing // to RetryQueue
	dead   []queue.Outgoing // to DeadLetterQueue
	parked []backlog.Item
	health map[string]health.Item // by endpoint id, or by tenant id
	writes []health.Write         // that were asked for
	calls  []string               // in the order in which something was written or sent
	hidden []queue.VisibilityChange
	logs   *captured
	emf    bytes.Buffer // what the metrics write

	tallied map[string]float64 // metrics without dimensions: see metrics
}

func (w *world) Read(_ context.Context, keys []dynamo.EndpointKey) (
	map[dynamo.EndpointKey]dynamo.Reading, error,
) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[dynamo.EndpointKey]dynamo.Reading{}
	for _, key := range keys {
		r := dynamo.Reading{View: health.View{TenantID: key.TenantID, EndpointID: key.EndpointID}, HealthRead: !w.blind}
		if e, ok := w.endpoints[key.EndpointID]; ok && e.TenantID == key.TenantID {
			r.Endpoint, r.Found = e, true
		}
		if !w.blind {
			r.View.Endpoint, r.View.Tenant = w.health[key.EndpointID], w.health[key.TenantID]
		}
		found[key] = r
	}
	return found, w.readErr
}

func (w *world) Apply(_ context.Context, write health.Write) (health.Item, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls, w.writes = append(w.calls, "health"), append(w.writes, write)
	if w.holdErr != nil {
		return health.Item{}, false, w.holdErr
	}
	stored, applied := write.Apply(w.health[write.Item.EndpointID])
	if stored.Version == 0 {
		delete(w.health, write.Item.EndpointID)
	} else {
		w.health[write.Item.EndpointID] = stored
	}
	return stored, applied, nil
}

func (w *world) Put(_ context.Context, items []backlog.Item) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, "backlog")
	errs := make([]error, len(items))
	for i, item := range items {
		if errs[i] = w.parkErr; errs[i] == nil {
			w.parked = append(w.parked, item)
		}
	}
	return errs
}

// deadLetterQueue is the other queue that deliver sends to.
type deadLetterQueue struct{ *world }

func (d deadLetterQueue) Send(_ context.Context, messages []queue.Outgoing) []error {
	w := d.world
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := make([]error, len(messages))
	for i, m := range messages {
		w.calls = append(w.calls, "dead")
		if errs[i] = w.deadErr; errs[i] == nil {
			w.dead = append(w.dead, m)
		}
	}
	return errs
}

func (w *world) Open(_ context.Context, id keyring.SecretID, _ []byte) (string, error) {
	return "whs_" + strconv.Itoa(id.Version), w.secretErr
}

func (w *world) Post(ctx context.Context, r delivery.Request) delivery.Response {
	w.mu.Lock()
	w.posts = append(w.posts, r)
	w.mu.Unlock()
	return w.respond(ctx, r.URL)
}

func (w *world) Acknowledge(_ context.Context, records []delivery.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked = append(w.acked, records...)
	if len(records) == 0 {
		return nil
	}
	return w.stateErr
}

func (w *world) Update(_ context.Context, r delivery.Record) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.states = append(w.states, r)
	return true, w.stateErr
}

func (w *world) Send(_ context.Context, messages []queue.Outgoing) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := make([]error, len(messages))
	for i, m := range messages {
		w.calls = append(w.calls, "send")
		if errs[i] = w.sendErr; *m.Attributes["delivery_id"].StringValue == w.unsent {
			errs[i] = errAWS
		}
		if errs[i] == nil {
			w.sent = append(w.sent, m)
		}
	}
	return errs
}

func (w *world) ChangeVisibility(_ context.Context, changes []queue.VisibilityChange) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := make([]error, len(changes))
	for i, c := range changes {
		w.calls = append(w.calls, "visibility")
		if c.ReceiptHandle == w.unchanged {
			errs[i] = errAWS
			continue
		}
		w.hidden = append(w.hidden, c)
	}
	return errs
}

// Write takes one line of metrics.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.emf.Write(line)
}

// measured is one metric as CloudWatch tells it apart.
type measured struct {
	name string
	telemetry.Dimensions
}

// metrics adds up what was written since it was last called. Only what a line declares counts. What
// has no dimensions is for the alarms and goes to w.tallied.
func (w *world) metrics(t *testing.T) map[measured]float64 {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	sums := map[measured]float64{}
	w.tallied = map[string]float64{}
	for line := range bytes.Lines(w.emf.Bytes()) {
		var about struct {
			AWS struct {
				CloudWatchMetrics []struct {
					Dimensions [][]string
					Metrics    []struct{ Name string }
				}
			} `json:"_aws"`
		}
		var members map[string]any
		if err := errors.Join(json.Unmarshal(line, &about), json.Unmarshal(line, &members)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		declared := about.AWS.CloudWatchMetrics[0]
		value := func(dimension string) string {
			if !slices.Contains(declared.Dimensions[0], dimension) {
				return ""
			}
			return members[dimension].(string)
		}
		d := telemetry.Dimensions{Outcome: value("outcome"), Reason: value("reason"), Fault: value("fault")}
		for _, metric := range declared.Metrics {
			for _, v := range members[metric.Name].([]any) {
				if d == (telemetry.Dimensions{}) {
					w.tallied[metric.Name] += v.(float64)
					continue
				}
				sums[measured{metric.Name, d}] += v.(float64)
			}
		}
	}
	w.emf.Reset()
	return sums
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// captured keeps log records.
type captured struct {
	slog.Handler
	mu    sync.Mutex
	lines []map[string]string
	batch []map[string]string // of the batches
}

func (c *captured) Handle(_ context.Context, r slog.Record) error {
	line := map[string]string{"msg": r.Message, "level": r.Level.String()}
	r.Attrs(func(a slog.Attr) bool { line[a.Key] = a.Value.String(); return true })
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Message == "batch" {
		c.batch = append(c.batch, line)
		return nil
	}
	c.lines = append(c.lines, line)
	return nil
}

func status(code int) func(context.Context, string) delivery.Response {
	return func(context.Context, string) delivery.Response {
		return delivery.Response{Status: code, Reason: delivery.StatusReason(code), Elapsed: time.Millisecond}
	}
}

// epoch is when a world begins.
var epoch = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

func newWorld(respond func(context.Context, string) delivery.Response) *world {
	return &world{
		now:       epoch,
		endpoints: map[string]endpoint.Endpoint{"webhook_1": active("webhook_1"), "webhook_2": active("webhook_2")},
		health:    map[string]health.Item{},
		respond:   respond,
		logs:      &captured{Handler: slog.DiscardHandler},
	}
}

func active(id string) endpoint.Endpoint {
	return endpoint.Endpoint{
		ID: id, TenantID: "t", URL: "https://receiver.example/" + id, Status: endpoint.Active, SecretVersion: 1,
	}
}

var tenPlaces = retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9}

func (w *world) handler() *Handler {
	return &Handler{
		Endpoints: w, Secrets: w, States: w, Health: w, Backlog: w, RetryQueue: w, DeadLetterQueue: deadLetterQueue{w},
		Visibility: w, RetryQueueARN: retryARN, Schedule: tenPlaces, Thresholds: health.Default(), PerEndpoint: 10,
		Attempts: delivery.Sender{Client: w, UserAgent: "Herald/test", Now: w.clock},
		Log:      slog.New(enabled{w.logs}), Metrics: telemetry.NewMetrics(w, "test", "deliver", w.clock), Now: w.clock,
		Random: func() float64 { return 0 }, Sample: telemetry.Everything,
	}
}

// enabled is captured for every level: DiscardHandler alone would report none as enabled.
type enabled struct{ *captured }

func (enabled) Enabled(context.Context, slog.Level) bool { return true }

// process runs one invocation with the default function timeout.
func (w *world) process(t *testing.T, records ...events.SQSMessage) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return w.handler().Process(ctx, records)
}

// born is when the life of every delivery of these tests began.
var born = time.Date(2026, 5, 31, 23, 59, 0, 0, time.UTC)

// fresh is a delivery on DeliveryQueue.
func fresh(id, endpointID string) events.SQSMessage {
	ref := delivery.Ref{
		DeliveryID: id, TenantID: "t", EndpointID: endpointID, EventID: "e", CreatedAt: time.Unix(1_700_000_000, 0),
	}
	return record(delivery.Message{Ref: ref, Body: []byte(`{"type":"user.deleted","data":{}}`)}, deliveryARN, 1)
}

// retried is a delivery on RetryQueue that used its first place, received there count times.
func retried(id, endpointID string, count int) events.SQSMessage {
	return again(fresh(id, endpointID), 1, count)
}

// again is the delivery on RetryQueue with so many places used, received there count times.
func again(r events.SQSMessage, used, count int) events.SQSMessage {
	return living(r, used, count, delivery.Life{StartedAt: born})
}

func living(r events.SQSMessage, used, count int, life delivery.Life) events.SQSMessage {
	m, err := queue.Decode(r)
	if err != nil {
		panic(err)
	}
	m.Retrying, m.Attempts, m.Life = true, used, life
	return record(m, retryARN, count)
}

func record(m delivery.Message, arn string, count int) events.SQSMessage {
	return events.SQSMessage{
		MessageId: "id-" + m.DeliveryID, ReceiptHandle: "handle-" + m.DeliveryID, Body: string(m.Body), EventSourceARN: arn,
		Attributes: sqsevent.System(born, count), MessageAttributes: sqsevent.Attributes(queue.Attributes(m)),
	}
}

// messageOf decodes what was sent.
func messageOf(t *testing.T, sent queue.Outgoing) delivery.Message {
	t.Helper()
	r := events.SQSMessage{Body: sent.Body, MessageAttributes: sqsevent.Attributes(sent.Attributes)}
	m, err := queue.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var errAWS = errors.New("ThrottlingException")
