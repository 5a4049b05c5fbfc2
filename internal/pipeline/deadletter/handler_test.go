package deadletter

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const payload = `{"type":"user.deleted","data":{"userId":"user_1"}}`

// rig is the handler on the model of AWS.
type rig struct {
	*Handler
	aws     *model.Model
	log     bytes.Buffer
	metrics bytes.Buffer
}

func newRig() *rig {
	r := &rig{aws: model.New()}
	p := r.aws.Process("deadletter")
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC) }
	r.Handler = &Handler{
		States: p.Deliveries(), Store: p.DeadLetters(),
		Vault: deadletter.Vault{Keys: testkit.OneKey{}},
		Log:   slog.New(slog.NewJSONHandler(&r.log, nil)), Now: now,
		Metrics: telemetry.NewMetrics(&r.metrics, "test", "deadletter", now),
	}
	return r
}

// deliveryID is that of every readable message.
var deliveryID = delivery.ID("acme", "event_1", "webhook_1", delivery.ContentOf([]byte(payload)))

// message is a dead letter's message, sent after one attempt of the delivery.
func message(replay int) events.SQSMessage {
	return living(replay, 1, delivery.Life{StartedAt: diedAt.Add(-time.Hour)})
}

// living is a message that takes a life along.
func living(replay, attempts int, life delivery.Life) events.SQSMessage {
	return events.SQSMessage{MessageId: "sqs-a", Body: payload, MessageAttributes: sqsevent.Attributes(
		queue.Attributes(delivery.Message{
			Ref: delivery.Ref{
				DeliveryID: deliveryID, TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1",
				CreatedAt: time.Unix(1_700_000_000, 0), Replay: replay,
			},
			Attempts: attempts, Life: life,
		}),
	)}
}

// diedAt is when all deliveries die: records keep milliseconds.
var diedAt = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func (w *rig) open(t *testing.T, id string) deadletter.Opened {
	t.Helper()
	opened, err := w.Vault.OpenAll(t.Context(), w.aws.Letters[id])
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// contents are the opened parts of a dead letter. Lives are the replays that died.
type contents struct {
	Body       string
	Attributes map[string]string
	Lives      []int
	Detail     string // of the first death
}

func (w *rig) holds(t *testing.T, id string, want contents) {
	t.Helper()
	opened := w.open(t, id)
	got := contents{Body: string(opened.Body), Attributes: map[string]string{}, Detail: opened.History[0].Detail}
	for _, a := range opened.Attributes {
		got.Attributes[a.Name] = a.Value
	}
	for _, entry := range opened.History {
		got.Lives = append(got.Lives, entry.Replay)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got)\n%s", id, diff)
	}
}

func TestHandler_Process_recordsWhatADeliveryDiedOf(t *testing.T) {
	known := delivery.Record{
		State: delivery.Retrying, Attempts: 10, LastStatus: 503, Reason: delivery.ReasonHTTP5xx,
	}
	begun := delivery.Life{StartedAt: diedAt.Add(-time.Hour)}
	failed, paused := begun, begun
	failed.Reason, failed.Status = delivery.ReasonHTTP5xx, 503
	paused.Reason = delivery.ReasonEndpointPaused
	queued := delivery.Record{Ref: delivery.Ref{Replay: 1}, State: delivery.Queued, Reason: delivery.ReasonReplayed}
	for name, row := range map[string]struct {
		state    *delivery.Record
		m        events.SQSMessage
		reason   delivery.Reason
		attempts int
		status   int
	}{
		"it says itself what it died of":  {nil, living(0, 10, failed), delivery.ReasonHTTP5xx, 10, 503},
		"more is known of its attempts":   {&known, living(0, 4, paused), delivery.ReasonEndpointPaused, 10, 0},
		"moved from RetryQueue by SQS":    {&known, living(0, 4, begun), delivery.ReasonCrashed, 10, 503},
		"moved, and its state is lost":    {nil, living(0, 4, begun), delivery.ReasonCrashed, 4, 0},
		"its state is of an earlier life": {&known, living(1, 0, begun), delivery.ReasonCrashed, 0, 0},
		"only the replay is known":        {&queued, living(1, 0, begun), delivery.ReasonCrashed, 0, 0},
		"moved from DeliveryQueue":        {nil, living(0, 0, delivery.Life{}), delivery.ReasonCrashed, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig()
			if row.state != nil {
				w.aws.States[deliveryID] = *row.state
			}
			if failed := w.Process(t.Context(), []events.SQSMessage{row.m}); len(failed) != 0 {
				t.Fatalf("failed %v", failed)
			}
			m, err := queue.Decode(row.m)
			if err != nil {
				t.Fatal(err)
			}
			wantRecord := deadletter.Record{
				Ref: m.Ref, EventType: "user.deleted", Status: deadletter.Dead, Reason: row.reason,
				Attempts: row.attempts, LastStatus: row.status, ReplayCount: m.Replay, DiedAt: diedAt, UpdatedAt: diedAt,
			}
			unsealed := cmpopts.IgnoreFields(deadletter.Record{}, "Sealed") // opened below
			if diff := cmp.Diff(wantRecord, w.aws.Letters[deliveryID], unsealed); diff != "" {
				t.Errorf("record (-want +got)\n%s", diff)
			}
			wantState := delivery.Record{
				Ref: m.Ref, EventType: "user.deleted", State: delivery.Dead, Reason: row.reason,
				Attempts: row.attempts, LastStatus: row.status, UpdatedAt: diedAt,
			}
			if diff := cmp.Diff(wantState, w.aws.States[deliveryID]); diff != "" {
				t.Errorf("state (-want +got)\n%s", diff)
			}
			wantOpened := deadletter.Opened{Body: []byte(payload), History: []deadletter.Entry{{
				DiedAt: diedAt, Reason: row.reason, Attempts: row.attempts, LastStatus: row.status,
				Replay: m.Replay, MessageID: "sqs-a",
			}}}
			if diff := cmp.Diff(wantOpened, w.open(t, deliveryID)); diff != "" {
				t.Errorf("opened (-want +got)\n%s", diff)
			}
			if strings.Contains(w.log.String(), "user_1") {
				t.Error("the body is in the log")
			}
		})
	}
}

func TestHandler_Process_recordsNoAcknowledgedDelivery(t *testing.T) {
	w := newRig()
	w.aws.States[deliveryID] = delivery.Record{State: delivery.Acknowledged}
	failed := w.Process(t.Context(), []events.SQSMessage{message(0)})
	if len(failed) != 0 || len(w.aws.Letters) != 0 {
		t.Errorf("failed %v, records %v", failed, w.aws.Letters)
	}
}

func TestHandler_Process_recordsEachLifeOnce(t *testing.T) {
	for _, row := range []struct{ replays, lives []int }{
		{[]int{0, 0, 1, 1, 3, 1}, []int{0, 1, 3}}, // replay 2 could not be sent
		{[]int{3, 4}, []int{3, 4}},                // purged, it died again
	} {
		w := newRig()
		for _, replay := range row.replays {
			if failed := w.Process(t.Context(), []events.SQSMessage{message(replay)}); len(failed) != 0 {
				t.Errorf("failed %v", failed)
			}
		}
		w.holds(t, deliveryID, contents{Body: payload, Lives: row.lives})
	}
}

// An unreadable message is kept, but only sealed. Its seal says that it is unreadable, and replay refuses it.
//
// Threat of the account: has an unreadable message signed. Held by: it is sealed, and never sent.
func TestHandler_Process_keepsUnreadableMessagesWhole(t *testing.T) {
	future := sqsevent.With(message(0), "version", "7")
	future.MessageAttributes["blob"] = events.SQSMessageAttribute{BinaryValue: []byte{0, 1}, DataType: "Binary"}
	foreign := sqsevent.With(message(0), "tenant_id", "other")
	foreign.MessageId = "sqs-b"
	w := newRig()
	for range 2 {
		if failed := w.Process(t.Context(), []events.SQSMessage{future, foreign}); len(failed) != 0 {
			t.Fatalf("failed %v", failed)
		}
	}
	attributes := func(change ...string) map[string]string {
		all := map[string]string{
			"version": "1", "delivery_id": deliveryID, "tenant_id": "acme", "endpoint_id": "webhook_1", "event_id": "event_1",
			"created_at": "2023-11-14T22:13:20Z", "replay": "0", "attempts": "1", "life": "v1,started=1767319445678",
		}
		for i := 0; i < len(change); i += 2 {
			all[change[i]] = change[i+1]
		}
		return all
	}
	w.holds(t, "unreadable_sqs-a", contents{
		Body: payload, Lives: []int{0}, Detail: `unreadable delivery message: version "7" is not known`,
		Attributes: attributes("version", "7", "blob", "\x00\x01"),
	})
	w.holds(t, "unreadable_sqs-b", contents{
		Body: payload, Lives: []int{0}, Attributes: attributes("tenant_id", "other"),
		Detail: "unreadable delivery message: delivery id does not match tenant, event, endpoint and body",
	})
	want := deadletter.Record{
		Ref:    delivery.Ref{DeliveryID: "unreadable_sqs-b", CreatedAt: diedAt},
		Status: deadletter.Dead, Reason: delivery.ReasonUnreadable, DiedAt: diedAt, UpdatedAt: diedAt,
	}
	unsealed := cmpopts.IgnoreFields(deadletter.Record{}, "Sealed")
	if diff := cmp.Diff(want, w.aws.Letters["unreadable_sqs-b"], unsealed); diff != "" {
		t.Errorf("record (-want +got)\n%s", diff)
	}
	if len(w.aws.States) != 0 || len(w.aws.Letters) != 2 {
		t.Errorf("states %v, %d records", w.aws.States, len(w.aws.Letters))
	}
}

func TestHandler_Process_countsADeathOnceIfItsStateWasNotWritten(t *testing.T) {
	w := newRig()
	w.aws.On("Write Deliveries", 1, model.Refused)
	for try, want := range []struct {
		failed int
		deaths bool
	}{{1, true}, {0, false}} {
		w.metrics.Reset()
		failed := w.Process(t.Context(), []events.SQSMessage{message(0)})
		if got := strings.Contains(w.metrics.String(), `"Deaths":[1]`); len(failed) != want.failed || got != want.deaths {
			t.Errorf("receive %d: %d failed, metrics %s", try+1, len(failed), &w.metrics)
		}
	}
}

// SQS moves a test to this queue if deliver crashes on it. No owner would miss or replay a test.
func TestHandler_Process_keepsNoTest(t *testing.T) {
	for _, eventType := range []string{delivery.TestType, "user.created"} {
		w := newRig()
		m := delivery.NewTest(delivery.Ref{
			TenantID: "acme", EndpointID: "webhook_1", EventID: "test_1", CreatedAt: diedAt,
		}, eventType, "{}")
		failed := w.Process(t.Context(), []events.SQSMessage{
			{MessageId: "sqs-a", Body: string(m.Body), MessageAttributes: sqsevent.Attributes(queue.Attributes(m))},
		})
		got := w.aws.States[m.DeliveryID]
		if len(failed)+len(w.aws.Letters) > 0 || got.State != delivery.Discarded || got.Reason != delivery.ReasonCrashed {
			t.Errorf("%s: returned %v, kept %v, state %+v", eventType, failed, w.aws.Letters, got)
		}
	}
}

// A death that could not be noted is a fault, but keeps no message on the queue. An unreadable message has no owner to
// tell.
func TestHandler_Process_notesDeathsForOwners(t *testing.T) {
	w := newRig()
	w.Notices = w.aws.Process("deadletter").Circuits()
	w.aws.On("Write EndpointHealth", 0, model.Refused)
	if failed := w.Process(t.Context(), []events.SQSMessage{message(0)}); len(failed) != 0 || len(w.aws.Letters) != 1 {
		t.Errorf("returned %v, kept %v", failed, w.aws.Letters)
	}
	if !strings.Contains(w.metrics.String(), `"Faults":[1]`) || !strings.Contains(w.log.String(), "death not noted") {
		t.Errorf("no fault in\n%s%s", &w.metrics, &w.log)
	}
	w.aws.Mend()
	w.Process(t.Context(), []events.SQSMessage{message(0), sqsevent.With(message(0), "version", "7")})
	noted := w.aws.Circuits["webhook_1"]
	want := circuit.Spell{At: diedAt, Reason: string(delivery.ReasonCrashed)}
	if diff := cmp.Diff(want, noted.Death); diff != "" || len(w.aws.Circuits) != 1 {
		t.Errorf("noted for %d (-want +got)\n%s", len(w.aws.Circuits), diff)
	}
	first := w.Now
	w.Now = func() time.Time { return first().Add(time.Hour) } // within a day of the first
	w.Process(t.Context(), []events.SQSMessage{message(1)})
	if got := w.aws.Circuits["webhook_1"]; !cmp.Equal(noted, got) {
		t.Errorf("the second of a day (-want +got)\n%s", cmp.Diff(noted, got))
	}
}

// Whatever call fails, is lost or is cut short, a message that is received again until it is taken makes one record,
// which opens, and its delivery is dead.
func TestHandler_Process_recordsADeathWhateverCallFails(t *testing.T) {
	for _, call := range []string{"Read Deliveries", "Write DeadLetters", "Write Deliveries"} {
		for _, v := range []model.Verdict{model.Refused, model.Lost, model.Crashed, model.CrashedBut} {
			t.Run(call+" "+v.String(), func(t *testing.T) {
				w := newRig()
				w.aws.On(call, 1, v)
				if failed := w.Process(t.Context(), []events.SQSMessage{message(0)}); len(failed) != 1 {
					t.Fatalf("taken: %v", failed)
				}
				_, kept := w.aws.Letters[deliveryID]
				if s := w.aws.States[deliveryID].State; s == delivery.Dead && !kept {
					t.Error("dead without a record")
				}
				p := w.aws.Process("the next") // after a crash
				w.States, w.Store = p.Deliveries(), p.DeadLetters()
				if failed := w.Process(t.Context(), []events.SQSMessage{message(0)}); len(failed) != 0 {
					t.Fatalf("not taken: %v", failed)
				}
				w.holds(t, deliveryID, contents{Body: payload, Lives: []int{0}})
				if got := w.aws.States[deliveryID].State; got != delivery.Dead {
					t.Errorf("the delivery is %q", got)
				}
			})
		}
	}
}
