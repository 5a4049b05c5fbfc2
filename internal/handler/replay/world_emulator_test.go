//go:build emulator

package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/control"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const payload = `{"type":"user.deleted","data":{"userId":"user_1", "text":"\u00e9 \" é"}}`

// world is the functions around dead letters on the emulator, with a clock of its own.
type world struct {
	deadletter *deadletter.Handler
	inspect    *inspect.Handler
	replay     *replay.Handler
	control    *control.Handler
	states     *dynamo.Deliveries
	letters    *dynamo.DeadLetters

	tables                              testkit.TableNames
	cfg                                 aws.Config
	sqs                                 *sqs.Client
	deliveries, retries, events, reject testkit.Queue
	audit                               string // log group

	created time.Time // of every delivery

	mu  sync.Mutex
	now time.Time
	log bytes.Buffer
}

// newWorld has one endpoint.
func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, key := testkit.Tables(t, cfg), testkit.Key(t, cfg)
	db := dynamodb.NewFromConfig(cfg)
	now := time.Now().UTC().Truncate(time.Millisecond)
	w := &world{
		tables: tables, cfg: cfg, sqs: sqs.NewFromConfig(cfg), now: now, created: now,
		states: dynamo.NewDeliveries(db, tables.Deliveries), letters: dynamo.NewDeadLetters(db, tables.DeadLetters),
		deliveries: testkit.NewQueue(t, cfg, "deliveries"),
		retries:    testkit.NewQueue(t, cfg, "retries"),
		events:     testkit.NewQueue(t, cfg, "events"),
		reject:     testkit.NewQueue(t, cfg, "rejected"),
		audit:      testkit.LogGroup(t, cfg, "audit"),
	}
	err := dynamo.NewEndpoints(db, tables.Endpoints).Create(t.Context(), endpoint.Endpoint{
		ID: "webhook_1", TenantID: "acme", URL: "https://example.com/", Events: []string{"*"}, Status: endpoint.Active,
		CreatedAt: now, UpdatedAt: now, SecretVersion: 1, SealedSecret: []byte("sealed"), Revision: "1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(&w.log, nil))
	w.deadletter = deadletter.New(deadletter.Config{AWS: cfg, Log: log, Settings: deadletter.Settings{
		DeadLettersTable: tables.DeadLetters, DeliveriesTable: tables.Deliveries, DeadLetterKeyARN: key,
	}, Metrics: telemetry.NewMetrics(io.Discard, "test", "deadletter", w.clock)})
	w.inspect = inspect.New(inspect.Config{AWS: cfg, Log: log, Settings: inspect.Settings{
		DeadLettersTable: tables.DeadLetters, DeliveriesTable: tables.Deliveries, DeadLetterKeyARN: key,
		EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth, BacklogTable: tables.Backlog,
		JobsTable: tables.Jobs, EventsDeadLetterQueueURL: w.reject.URL, MaximumConcurrency: 200, AttemptTimeout: 15,
	}})
	w.inspect.Queues = map[string]string{"DeliveryQueue": w.deliveries.URL, "EventsDeadLetterQueue": w.reject.URL}
	w.replay = replay.New(replay.Config{AWS: cfg, Log: log, Settings: replay.Settings{
		DeadLettersTable: tables.DeadLetters, DeliveriesTable: tables.Deliveries, DeadLetterKeyARN: key,
		EndpointsTable: tables.Endpoints, DeliveryQueueURL: w.deliveries.URL, EventsQueueURL: w.events.URL,
		AuditLogGroup: w.audit,
		JobsTable:     tables.Jobs, RetryQueueURL: w.retries.URL,
		ApiKeysTable: tables.ApiKeys, BacklogTable: tables.Backlog, EndpointHealthTable: tables.EndpointHealth,
		EventsDeadLetterQueueURL: w.reject.URL,
	}})
	w.control = control.New(control.Config{AWS: cfg, Log: log, Settings: control.Settings{
		EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth, BacklogTable: tables.Backlog,
		AuditLogGroup: w.audit, DeliveryQueueURL: w.deliveries.URL, Minute: 60, FunctionTimeout: 30,
	}})
	w.deadletter.Now, w.inspect.Now, w.replay.Now, w.control.Now = w.clock, w.clock, w.clock, w.clock
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Millisecond)
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// message is a delivery of the event that is replayed so often.
func (w *world) message(event string, replay int) delivery.Message {
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: idOf(event), TenantID: "acme", EndpointID: "webhook_1", EventID: event,
			CreatedAt: w.created, Replay: replay,
		},
		Body: []byte(payload),
	}
}

func idOf(event string) string {
	return delivery.ID("acme", event, "webhook_1", delivery.ContentOf([]byte(payload)))
}

// die puts a delivery through the consumer of DeadLetterQueue.
func (w *world) die(t *testing.T, event string, replay int) {
	t.Helper()
	m := w.message(event, replay)
	m.Attempts = 10
	m.Life = delivery.Life{StartedAt: w.clock(), Reason: delivery.ReasonHTTP5xx, Status: 503}
	r := events.SQSMessage{
		MessageId: fmt.Sprint("sqs-", event, replay), Body: string(m.Body),
		MessageAttributes: sqsevent.Attributes(queue.Attributes(m)),
	}
	if failed := w.deadletter.Process(t.Context(), []events.SQSMessage{r}); len(failed) != 0 {
		t.Fatalf("recording a death failed: %s", &w.log)
	}
}

type function interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// ask invokes an operator function and decodes its answer.
func ask[T any](t *testing.T, f function, action, fields string) T {
	t.Helper()
	return askWithin[T](t.Context(), t, f, action, fields)
}

func askWithin[T any](ctx context.Context, t *testing.T, f function, action, fields string) T {
	t.Helper()
	if fields != "" {
		fields = "," + fields
	}
	raw, err := f.Invoke(ctx, []byte(`{"action":"`+action+`","operator":"ann"`+fields+`}`))
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	var answer T
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%s answered %s: %v", action, raw, err)
	}
	return answer
}

type refused struct{ Error struct{ Code, Field string } }

// outcome is a replay's answer for the delivery of event_1: "result reason".
func (w *world) outcome(t *testing.T, f function) string {
	t.Helper()
	answer := ask[replay.Results](t, f, "deliveries", `"delivery_ids":["`+idOf("event_1")+`"]`)
	if len(answer.Data) != 1 || answer.Data[0].DeliveryID != idOf("event_1") {
		t.Fatalf("answered %+v", answer)
	}
	return strings.TrimSpace(answer.Data[0].Result + " " + answer.Data[0].Reason)
}

// sent takes the messages off DeliveryQueue.
func (w *world) sent(t *testing.T) []delivery.Message {
	t.Helper()
	var messages []delivery.Message
	for _, m := range testkit.Receive(t, w.cfg, w.deliveries, 0) {
		d, err := queue.Decode(sqsevent.Of(m, w.deliveries.ARN))
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, d)
		in := sqs.DeleteMessageInput{QueueUrl: &w.deliveries.URL, ReceiptHandle: m.ReceiptHandle}
		if _, err := w.sqs.DeleteMessage(t.Context(), &in); err != nil {
			t.Fatal(err)
		}
	}
	return messages
}

// status is that of the delivery of event_1.
func (w *world) status(t *testing.T) vault.Status {
	t.Helper()
	r, found, err := w.letters.Get(t.Context(), idOf("event_1"))
	if err != nil || !found {
		t.Fatalf("%v, %v", found, err)
	}
	return r.Status
}
