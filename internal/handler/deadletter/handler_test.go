package deadletter

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const payload = `{"type":"user.deleted","data":{"userId":"user_1"}}`

// world is the handler with everything around it in memory.
type world struct {
	*Handler
	mu      sync.Mutex
	states  map[string]delivery.Record
	records map[string]deadletter.Record
	err     error // of Create
	lost    error // of the next Update
	log     bytes.Buffer
	metrics bytes.Buffer
}

func newWorld() *world {
	w := &world{states: map[string]delivery.Record{}, records: map[string]deadletter.Record{}}
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC) }
	w.Handler = &Handler{
		States: states{w}, Store: store{w}, Vault: deadletter.Vault{Keys: testkit.OneKey{}, Random: rand.Reader},
		Log: slog.New(slog.NewJSONHandler(&w.log, nil)), Now: now,
		Metrics: telemetry.NewMetrics(&w.metrics, "test", "deadletter", now),
	}
	return w
}

type (
	states struct{ *world }
	store  struct{ *world }
)

func (s states) Get(_ context.Context, id string) (delivery.Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, found := s.states[id]
	return r, found, nil
}

func (s states) Update(_ context.Context, r delivery.Record) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.lost; err != nil {
		s.lost = nil
		return false, err
	}
	s.states[r.DeliveryID] = r
	return true, nil
}

func (s store) Create(_ context.Context, r deadletter.Record) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false, s.err
	}
	if _, exists := s.records[r.DeliveryID]; exists {
		return false, nil
	}
	s.records[r.DeliveryID] = r
	return true, nil
}

func (s store) Append(_ context.Context, r deadletter.Record, n int) (bool, deadletter.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.records[r.DeliveryID]
	if old.DeliveryID == "" || old.Replay >= r.Replay || len(old.Sealed.History) != n-1 {
		return false, old, nil
	}
	r.Sealed = deadletter.Sealed{Body: old.Sealed.Body, History: append(old.Sealed.History, r.Sealed.History...)}
	s.records[r.DeliveryID] = r
	return true, deadletter.Record{}, nil
}

// deliveryID is that of every readable message.
var deliveryID = delivery.ID("acme", "event_1", "webhook_1", delivery.ContentOf([]byte(payload)))

// message is one that was sent after an attempt of the delivery.
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

// diedAt is when all of a world's deliveries die: its records keep milliseconds.
var diedAt = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func (w *world) open(t *testing.T, id string) deadletter.Opened {
	t.Helper()
	opened, err := w.Vault.OpenAll(t.Context(), w.records[id])
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// contents are what opens of a dead letter. Lives are the replays that died.
type contents struct {
	Body       string
	Attributes map[string]string
	Lives      []int
	Detail     string // of the first death
}

func (w *world) holds(t *testing.T, id string, want contents) {
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
			w := newWorld()
			if row.state != nil {
				w.states[deliveryID] = *row.state
			}
			if failed := w.Process(t.Context(), []events.SQSMessage{row.m}); len(failed) != 0 {
				t.Fatalf("failed %v", failed)
			}
			m, err := queue.Decode(row.m)
			if err != nil {
				t.Fatal(err)
			}
			wantRecord := deadletter.Record{
				Ref: m.Ref, EventType: "user.deleted", Reason: row.reason,
				Attempts: row.attempts, LastStatus: row.status, DiedAt: diedAt,
			}
			unsealed := cmpopts.IgnoreFields(deadletter.Record{}, "Sealed") // opened below
			if diff := cmp.Diff(wantRecord, w.records[deliveryID], unsealed); diff != "" {
				t.Errorf("record (-want +got)\n%s", diff)
			}
			wantState := delivery.Record{
				Ref: m.Ref, EventType: "user.deleted", State: delivery.Dead, Reason: row.reason,
				Attempts: row.attempts, LastStatus: row.status, UpdatedAt: diedAt,
			}
			if diff := cmp.Diff(wantState, w.states[deliveryID]); diff != "" {
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
	w := newWorld()
	w.states[deliveryID] = delivery.Record{State: delivery.Acknowledged}
	failed := w.Process(t.Context(), []events.SQSMessage{message(0)})
	if len(failed) != 0 || len(w.records) != 0 {
		t.Errorf("failed %v, records %v", failed, w.records)
	}
}

func TestHandler_Process_recordsEachLifeOnce(t *testing.T) {
	for _, row := range []struct{ replays, lives []int }{
		{[]int{0, 0, 1, 1, 3, 1}, []int{0, 1, 3}}, // replay 2 could not be sent
		{[]int{3, 4}, []int{3, 4}},                // purged, it died again
	} {
		w := newWorld()
		for _, replay := range row.replays {
			if failed := w.Process(t.Context(), []events.SQSMessage{message(replay)}); len(failed) != 0 {
				t.Errorf("failed %v", failed)
			}
		}
		w.holds(t, deliveryID, contents{Body: payload, Lives: row.lives})
	}
}

// Only sealed, such a message is kept: replay refuses what is unreadable, and its seal says that it is.
func TestHandler_Process_keepsUnreadableMessagesWhole(t *testing.T) {
	future := sqsevent.With(message(0), "version", "7")
	future.MessageAttributes["blob"] = events.SQSMessageAttribute{BinaryValue: []byte{0, 1}, DataType: "Binary"}
	foreign := sqsevent.With(message(0), "tenant_id", "other")
	foreign.MessageId = "sqs-b"
	w := newWorld()
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
		Reason: delivery.ReasonUnreadable, DiedAt: diedAt,
	}
	unsealed := cmpopts.IgnoreFields(deadletter.Record{}, "Sealed")
	if diff := cmp.Diff(want, w.records["unreadable_sqs-b"], unsealed); diff != "" {
		t.Errorf("record (-want +got)\n%s", diff)
	}
	if len(w.states) != 0 || len(w.records) != 2 {
		t.Errorf("states %v, %d records", w.states, len(w.records))
	}
}

func TestHandler_Process_returnsWhatIsNotWritten(t *testing.T) {
	w := newWorld()
	w.err = errors.New("throttled")
	failed := w.Process(t.Context(), []events.SQSMessage{message(0)})
	if !slices.Equal(failed, []string{"sqs-a"}) {
		t.Errorf("failed %v", failed)
	}
	if s, found := w.states[deliveryID]; found {
		t.Errorf("dead without a record: %+v", s)
	}
}

func TestHandler_Process_countsADeathOnceIfItsStateWasNotWritten(t *testing.T) {
	w := newWorld()
	w.lost = errors.New("no answer")
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

// SQS moves a test here if deliver crashes on it: nobody would miss or replay it.
func TestHandler_Process_keepsNoTest(t *testing.T) {
	w := newWorld()
	body := `{"type":"` + delivery.TestType + `","data":{}}`
	m := delivery.Message{Body: []byte(body), Ref: delivery.Ref{
		DeliveryID: delivery.ID("acme", "test_1", "webhook_1", delivery.ContentOf([]byte(body))),
		TenantID:   "acme", EndpointID: "webhook_1", EventID: "test_1", CreatedAt: diedAt,
	}}
	failed := w.Process(t.Context(), []events.SQSMessage{
		{MessageId: "sqs-a", Body: body, MessageAttributes: sqsevent.Attributes(queue.Attributes(m))},
	})
	got := w.states[m.DeliveryID]
	if len(failed) > 0 || len(w.records) > 0 || got.State != delivery.Discarded || got.Reason != delivery.ReasonCrashed {
		t.Errorf("returned %v, kept %v, state %+v", failed, w.records, got)
	}
}

// deaths are those that were noted for owners.
type deaths struct {
	all []circuit.Spell
	err error
}

func (d *deaths) MarkDeath(_ context.Context, key dynamo.EndpointKey, death circuit.Spell, before time.Time) error {
	if d.err == nil && key.EndpointID == "webhook_1" && before.Equal(death.At.Add(-24*time.Hour)) {
		d.all = append(d.all, death)
	}
	return d.err
}

// A death that could not be noted is a fault that keeps no message on the queue; what cannot be read is nobody's.
func TestHandler_Process_notesDeathsForOwners(t *testing.T) {
	w, noted, metrics := newWorld(), &deaths{err: errors.New("throttled")}, &bytes.Buffer{}
	w.Notices, w.Metrics = noted, telemetry.NewMetrics(metrics, "test", "deadletter", w.Now)
	if failed := w.Process(t.Context(), []events.SQSMessage{message(0)}); len(failed) != 0 || len(w.records) != 1 {
		t.Errorf("returned %v, kept %v", failed, w.records)
	}
	if !strings.Contains(metrics.String(), `"Faults":[1]`) || !strings.Contains(w.log.String(), "death not noted") {
		t.Errorf("no fault in\n%s%s", metrics, &w.log)
	}
	noted.err = nil
	w.Process(t.Context(), []events.SQSMessage{message(0), sqsevent.With(message(0), "version", "7")})
	want := []circuit.Spell{{At: diedAt, Reason: string(delivery.ReasonCrashed)}}
	if diff := cmp.Diff(want, noted.all); diff != "" {
		t.Errorf("noted (-want +got)\n%s", diff)
	}
}
