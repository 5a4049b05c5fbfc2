//go:build emulator

package replay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
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
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/control"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
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
	stores     *dynamo.Endpoints // what inspect and control see of endpoints; replay sees the map below

	cfg                        aws.Config
	sqs                        *sqs.Client
	deliveries, events, reject testkit.Queue

	created time.Time // of every delivery

	mu        sync.Mutex
	endpoints map[string]endpoint.Status
	now       time.Time
	log       bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := testkit.Moto(t)
	tables := testkit.Tables(t, cfg)
	db := dynamodb.NewFromConfig(cfg)
	now := time.Now().UTC().Truncate(time.Millisecond)
	w := &world{
		cfg: cfg, sqs: sqs.NewFromConfig(cfg), now: now, created: now,
		states: dynamo.NewDeliveries(db, tables.Deliveries), letters: dynamo.NewDeadLetters(db, tables.DeadLetters),
		endpoints:  map[string]endpoint.Status{"webhook_1": endpoint.Active},
		deliveries: testkit.NewQueue(t, cfg, "deliveries", testkit.QueueOptions{}),
		events:     testkit.NewQueue(t, cfg, "events", testkit.QueueOptions{}),
		reject:     testkit.NewQueue(t, cfg, "rejected", testkit.QueueOptions{}),
	}
	v := vault.Vault{Keys: keyring.NewDataKeys(kms.NewFromConfig(cfg), testkit.Key(t, cfg)), Random: rand.Reader}
	log := slog.New(slog.NewJSONHandler(&w.log, nil))
	w.deadletter = &deadletter.Handler{
		States: w.states, Store: w.letters, Vault: v, MaxRetries: 9, Log: log, Now: w.clock,
		Metrics: telemetry.NewMetrics(io.Discard, "test", "deadletter", w.clock),
	}
	reject := rejected.Queue{Client: w.sqs, URL: w.reject.URL}
	w.inspect = &inspect.Handler{
		Deliveries: w.states, DeadLetters: w.letters, Vault: v, Rejected: reject, Meter: w.sqs, Log: log, Now: w.clock,
		Queues: map[string]string{"DeliveryQueue": w.deliveries.URL, "EventsDeadLetterQueue": w.reject.URL},
	}
	w.stores = dynamo.NewEndpoints(db, tables.Endpoints)
	w.inspect.Endpoints, w.inspect.Health = w.stores.WithoutSecrets(), dynamo.NewHealth(db, tables.EndpointHealth)
	w.inspect.Backlog = dynamo.NewBacklog(db, tables.Backlog)
	w.control = &control.Handler{
		Endpoints: w.inspect.Endpoints, Health: dynamo.NewHealth(db, tables.EndpointHealth),
		Backlog: dynamo.NewBacklog(db, tables.Backlog), Log: log, Now: w.clock,
	}
	w.replay = &replay.Handler{
		DeadLetters: w.letters, States: w.states, Endpoints: endpoints{w}, Vault: v, Rejected: reject,
		Deliveries: queue.Sender{Client: w.sqs, URL: w.deliveries.URL},
		Events:     queue.Sender{Client: w.sqs, URL: w.events.URL},
		Log:        log, Now: w.clock,
	}
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

type endpoints struct{ *world }

func (e endpoints) Get(_ context.Context, tenantID, id string) (endpoint.Endpoint, bool, error) {
	status, found := e.endpoints[id]
	return endpoint.Endpoint{ID: id, TenantID: tenantID, Status: status}, found, nil
}

// die puts one delivery through the consumer of DeadLetterQueue.
func (w *world) die(t *testing.T, id string, replay int) {
	t.Helper()
	w.recordDeath(t, delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1",
			CreatedAt: w.created, Replay: replay,
		},
		Retrying: true, Attempts: 1, Body: []byte(payload),
	})
}

func (w *world) recordDeath(t *testing.T, m delivery.Message) {
	t.Helper()
	_, err := w.states.Update(t.Context(), delivery.Record{
		Ref: m.Ref, EventType: "user.deleted", State: delivery.Retrying, Attempts: 10,
		LastStatus: 503, Reason: delivery.ReasonHTTP5xx, UpdatedAt: w.clock(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := events.SQSMessage{
		MessageId: fmt.Sprint("sqs-", m.DeliveryID, m.Replay), Body: string(m.Body),
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
	if fields != "" {
		fields = "," + fields
	}
	raw, err := f.Invoke(t.Context(), []byte(`{"action":"`+action+`","operator":"ann"`+fields+`}`))
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

// outcome is how a replay answered one id: "result reason".
func (w *world) outcome(t *testing.T, id string) string {
	t.Helper()
	answer := ask[replay.Results](t, w.replay.Function(), "deliveries", `"delivery_ids":["`+id+`"]`)
	if len(answer.Data) != 1 || answer.Data[0].DeliveryID != id {
		t.Fatalf("answered %+v", answer)
	}
	return strings.TrimSpace(answer.Data[0].Result + " " + answer.Data[0].Reason)
}

// sent takes the messages off DeliveryQueue.
// begun leaves out when the life of a replay began: TestAReplayBeginsANewLife looks at that.
var begun = cmpopts.IgnoreFields(delivery.Life{}, "StartedAt")

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

func (w *world) status(t *testing.T, id string) vault.Status {
	t.Helper()
	r, found, err := w.letters.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("%s: %v, %v", id, found, err)
	}
	return r.Status
}

// message is what a replay of msg_1 sends.
func (w *world) message(replay int) delivery.Message {
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1",
			CreatedAt: w.created, Replay: replay,
		},
		Body: []byte(payload),
	}
}

// wantOutcome replays msg_1 and compares the answer, what it sent and the status it left.
func (w *world) wantOutcome(t *testing.T, want string, sent []delivery.Message, status vault.Status) {
	t.Helper()
	if got := w.outcome(t, "msg_1"); got != want {
		t.Errorf("replaying msg_1 answered %q, want %q\n%s", got, want, &w.log)
	}
	if diff := cmp.Diff(sent, w.sent(t), begun); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if got := w.status(t, "msg_1"); got != status {
		t.Errorf("msg_1 is %s, want %s", got, status)
	}
}

func TestHandler_deliveries_replaysADeliveryInEachOfItsLives(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	w.die(t, "msg_1", 0)
	letter := inspect.OpenedDeadLetter{
		DeadLetter: inspect.DeadLetter{
			DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1", EventType: "user.deleted",
			Status: vault.Dead, Reason: delivery.ReasonHTTP5xx, Attempts: 10, LastStatus: 503, CreatedAt: w.created,
		},
		Body:    payload,
		Headers: map[string]string{"content-type": "application/json", "wh-id": "msg_1", "wh-webhook-event": "user.deleted"},
	}
	for life := 1; life <= 2; life++ {
		letter.ReplayCount = life - 1
		letter.History = append(letter.History, vault.Entry{
			Reason: delivery.ReasonHTTP5xx, Attempts: 10, LastStatus: 503, Replay: life - 1,
			MessageID: fmt.Sprint("sqs-msg_1", life-1),
		})
		opened := ask[inspect.OpenedDeadLetter](t, w.inspect.Function(), "dead_letter", `"delivery_id":"msg_1"`)
		diedAt := cmp.Options{
			cmpopts.IgnoreFields(inspect.DeadLetter{}, "DiedAt"), cmpopts.IgnoreFields(vault.Entry{}, "DiedAt"),
		}
		if diff := cmp.Diff(letter, opened, diedAt); diff != "" {
			t.Errorf("life %d: dead letter (-want +got):\n%s", life, diff)
		}
		w.wantOutcome(t, "replayed", []delivery.Message{w.message(life)}, vault.Replayed)
		shown := ask[inspect.Delivery](t, w.inspect.Function(), "delivery", `"delivery_id":"msg_1","tenant_id":"acme"`)
		want := inspect.Delivery{
			DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1", EventType: "user.deleted",
			State: delivery.Queued, Replay: life, LastStatus: 503, Reason: delivery.ReasonReplayed, CreatedAt: w.created,
		}
		if diff := cmp.Diff(want, shown, cmpopts.IgnoreFields(want, "UpdatedAt")); diff != "" {
			t.Errorf("life %d: delivery (-want +got):\n%s", life, diff)
		}
		w.wantOutcome(t, "refused already_replayed", nil, vault.Replayed)
		w.die(t, "msg_1", life)
	}
	if strings.Contains(w.log.String(), "user_1") {
		t.Error("a body is in the log")
	}
}

func TestHandler_deliveries_saysWhyItRefuses(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	if got := w.outcome(t, "msg_9"); got != "not_found" {
		t.Errorf("an unknown id is answered %q, want not_found", got)
	}
	for status, want := range map[endpoint.Status]string{
		endpoint.Disabled: "refused endpoint_disabled", endpoint.Deleted: "refused endpoint_deleted",
	} {
		w.endpoints["webhook_1"] = status
		w.wantOutcome(t, want, nil, vault.Dead)
	}
	delete(w.endpoints, "webhook_1")
	w.wantOutcome(t, "refused endpoint_deleted", nil, vault.Dead)
	w.endpoints["webhook_1"] = endpoint.Active
	answer := ask[replay.Results](t, w.replay.Function(), "deliveries", `"delivery_ids":["msg_1"],"tenant_id":"other"`)
	want := replay.Results{Data: []replay.Result{{DeliveryID: "msg_1", Result: "refused", Reason: "tenant_mismatch"}}}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Errorf("with another tenant (-want +got):\n%s", diff)
	}
	w.deadletter.Process(t.Context(), []events.SQSMessage{{MessageId: "7", Body: "noise"}})
	if got := w.outcome(t, "unreadable_7"); got != "refused unreadable" {
		t.Errorf("what could not be read is answered %q, want refused unreadable", got)
	}
	if sent := w.sent(t); len(sent) != 0 || w.status(t, "msg_1") != vault.Dead {
		t.Errorf("sent %+v and left %s, want nothing and %s", sent, w.status(t, "msg_1"), vault.Dead)
	}
	acknowledged := delivery.Record{
		Ref:       delivery.Ref{DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1"},
		UpdatedAt: w.clock(),
	}
	if err := w.states.Acknowledge(t.Context(), []delivery.Record{acknowledged}); err != nil {
		t.Fatal(err)
	}
	w.wantOutcome(t, "refused already_acknowledged", nil, vault.Replayed)
}

var errCrash = errors.New("killed")

// crashing stops answering from one step of a replay on, as a killed process would.
type crashing struct {
	*dynamo.DeadLetters
	states *dynamo.Deliveries
	queue  queue.Sender
	step   string
	dead   bool
}

func (c *crashing) Update(ctx context.Context, r delivery.Record) (bool, error) {
	if c.dead = c.dead || c.step == "state"; c.dead {
		return false, errCrash
	}
	return c.states.Update(ctx, r)
}

func (c *crashing) Send(ctx context.Context, messages []queue.Outgoing) []error {
	if c.dead = c.dead || c.step == "send"; !c.dead {
		return c.queue.Send(ctx, messages)
	}
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = errCrash
	}
	return errs
}

func (c *crashing) EndReplay(
	ctx context.Context,
	id string,
	replay int,
	status vault.Status,
	now time.Time,
) (bool, error) {
	if c.dead = c.dead || c.step == "end"; c.dead {
		return false, errCrash
	}
	return c.DeadLetters.EndReplay(ctx, id, replay, status, now)
}

func TestHandler_deliveries_takesUpAReplayThatBrokeOff(t *testing.T) {
	for _, step := range []string{"state", "send", "end"} {
		t.Run("before "+step, func(t *testing.T) {
			w := newWorld(t)
			w.die(t, "msg_1", 0)
			broken := *w.replay
			c := &crashing{
				DeadLetters: w.letters,
				states:      w.states,
				queue:       w.replay.Deliveries.(queue.Sender),
				step:        step,
			}
			broken.DeadLetters, broken.States, broken.Deliveries = c, c, c
			ask[replay.Results](t, broken.Function(), "deliveries", `"delivery_ids":["msg_1"]`)
			if got := w.status(t, "msg_1"); got != vault.Replaying {
				t.Fatalf("left %s", got)
			}
			if got := w.outcome(t, "msg_1"); got != "refused replay_running" {
				t.Errorf("at once: %s", got)
			}
			w.pass(vault.StaleClaim)
			if got := w.outcome(t, "msg_1"); got != "replayed" {
				t.Errorf("later: %s", got)
			}
			sent := w.sent(t)
			if len(sent) == 0 || w.status(t, "msg_1") != vault.Replayed {
				t.Fatalf("%d sent, %s", len(sent), w.status(t, "msg_1"))
			}
			for _, m := range sent { // a duplicate is legal, another number is not
				if diff := cmp.Diff(w.message(1), m, begun); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestHandler_deliveries_sendsAReplayThatIsUnderWayOnceOnly(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	broken := *w.replay
	c := &crashing{DeadLetters: w.letters, states: w.states, queue: w.replay.Deliveries.(queue.Sender), step: "end"}
	broken.DeadLetters = c
	ask[replay.Results](t, broken.Function(), "deliveries", `"delivery_ids":["msg_1"]`)
	w.sent(t)
	if _, err := w.states.Update(t.Context(), delivery.Record{
		Ref:   delivery.Ref{DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", Replay: 1},
		State: delivery.Retrying, Attempts: 1, UpdatedAt: w.clock(),
	}); err != nil {
		t.Fatal(err)
	}
	w.pass(vault.StaleClaim)
	w.wantOutcome(t, "replayed resumed", nil, vault.Replayed)
}

func TestHandler_deliveries_leavesDeadWhatItCouldNotSend(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	healthy := w.replay.Deliveries
	w.replay.Deliveries = refusing{}
	w.wantOutcome(t, "failed not_sent", nil, vault.Dead)
	got := ask[inspect.Delivery](t, w.inspect.Function(), "delivery", `"delivery_id":"msg_1"`)
	if got.State != delivery.Dead || got.Reason != delivery.ReasonReplayFault {
		t.Errorf("the delivery is %s for %s, want dead for %s", got.State, got.Reason, delivery.ReasonReplayFault)
	}
	w.replay.Deliveries = healthy
	w.wantOutcome(t, "replayed", []delivery.Message{w.message(2)}, vault.Replayed)
}

type refusing struct{}

func (refusing) Send(_ context.Context, messages []queue.Outgoing) []error {
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = errCrash
	}
	return errs
}
