package inspect

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var (
	errAWS = errors.New("ThrottlingException")
	at     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// world is everything around the handler.
type world struct {
	deliveries []delivery.Record
	letters    []deadletter.Record
	selector   job.Selector // that was asked for last
	counts     map[deadletter.Status]int
	depths     map[string][3]string // by URL: visible, in flight, delayed; nil: none
	next       string               // cursor of every list
	endpoints  []endpoint.Endpoint
	circuits   []circuit.Item
	tenants    map[string]endpoint.Marks
	slow       map[string]time.Time
	unread     bool                      // circuits could not be read
	waiting    map[string]dynamo.Waiting // by endpoint
	total      dynamo.Total
	open       map[string][][]delivery.Record // pages, by endpoint
	asked      []string                       // endpoints whose Backlog was counted or deliveries listed
	mu         sync.Mutex
	fails      string // the call that does, such as "Deliveries.Get"
	unreadable string // the call that finds a broken row
	jobs       workedOff

	rejected   []rejected.Event
	hidden     time.Duration // of the events that were received last
	receiveErr error         // after all events were received
	restored   []string
	restoreErr error
	lines      []audit.Line
	auditErr   error
	tick       time.Duration // that passes between two looks at the clock
	log        bytes.Buffer
}

// fault is the error of a call that fails or finds a broken row.
func (w *world) fault(call string) error {
	switch call {
	case w.fails:
		return errAWS
	case w.unreadable:
		return endpoint.ErrUnreadable
	}
	return nil
}

type deliveries struct{ *world }

func (w deliveries) Get(_ context.Context, id string) (delivery.Record, bool, error) {
	for _, r := range w.deliveries {
		if r.DeliveryID == id {
			return r, true, w.fault("Deliveries.Get")
		}
	}
	return delivery.Record{}, false, w.fault("Deliveries.Get")
}

func (w deliveries) ListOpen(_ context.Context, id string, _ int, cursor string) ([]delivery.Record, string, error) {
	if pages, ok := w.open[id]; ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = append(w.asked, id)
		n := len(cursor)
		if next := strings.Repeat("x", n+1); n+1 < len(pages) {
			return pages[n], next, w.fault("ListOpen")
		}
		return pages[n], "", w.fault("ListOpen")
	}
	if cursor != "" && cursor != w.next {
		return nil, "", dynamo.ErrCursor
	}
	return w.deliveries, w.next, w.fault("ListOpen")
}

func (w deliveries) BatchGet(_ context.Context, ids []string) (map[string]delivery.Record, error) {
	found := map[string]delivery.Record{}
	for _, r := range w.deliveries {
		if slices.Contains(ids, r.DeliveryID) {
			found[r.DeliveryID] = r
		}
	}
	return found, w.fault("BatchGet")
}

type letters struct{ *world }

func (w letters) Get(_ context.Context, id string) (deadletter.Record, bool, error) {
	for _, r := range w.letters {
		if r.DeliveryID == id {
			return r, true, w.fault("DeadLetters.Get")
		}
	}
	return deadletter.Record{}, false, w.fault("DeadLetters.Get")
}

func (w letters) List(
	_ context.Context, s job.Selector, _ dynamo.LetterPage,
) ([]deadletter.Record, string, error) {
	w.selector = s
	return w.letters, w.next, w.fault("DeadLetters.List")
}

func (w letters) Count(_ context.Context, s job.Selector) (int, time.Time, error) {
	if w.counts[deadletter.Status(s.Status)] == 0 {
		return 0, time.Time{}, w.fault("DeadLetters.Count")
	}
	return w.counts[deadletter.Status(s.Status)], at, w.fault("DeadLetters.Count")
}

func (w *world) Receive(_ context.Context, most int, hidden time.Duration) ([]rejected.Event, error) {
	w.hidden = hidden
	n := min(most, 2, len(w.rejected))
	if n == 0 {
		return nil, w.receiveErr
	}
	some := w.rejected[:n]
	w.rejected = w.rejected[n:]
	return some, nil
}

func (w *world) Restore(_ context.Context, events []rejected.Event) error {
	for _, e := range events {
		w.restored = append(w.restored, e.MessageID)
	}
	return w.restoreErr
}

func (w *world) GetQueueAttributes(
	_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options),
) (*sqs.GetQueueAttributesOutput, error) {
	d := [3]string{"0", "0", "0"}
	if w.depths != nil {
		d = w.depths[aws.ToString(in.QueueUrl)]
	}
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{
		"ApproximateNumberOfMessages": d[0], "ApproximateNumberOfMessagesNotVisible": d[1],
		"ApproximateNumberOfMessagesDelayed": d[2],
	}}, w.fault("GetQueueAttributes")
}

// Write keeps audit lines.
func (w *world) Write(_ context.Context, lines ...audit.Line) error {
	if w.auditErr != nil {
		return w.auditErr
	}
	w.lines = append(w.lines, lines...)
	return nil
}

func (w *world) rows() testkit.Rows {
	return testkit.Rows{Endpoints: w.endpoints, Tenants: w.tenants, Fault: w.fault}
}

func (w *world) function() *operator.Function {
	h := &Handler{
		Deliveries: deliveries{w}, DeadLetters: letters{w}, Rejected: w, Meter: w, Jobs: w.jobs,
		Directory: operator.Directory{Endpoints: w.rows(), Circuits: circuits{w}}, IDs: ids{w}, Circuits: circuits{w},
		Readings: w, Allowance: allowance.New(200, 15*time.Second),
		Probing: circuit.New(time.Minute, 30*time.Second), MaxLife: 7 * 24 * time.Hour, Backlog: w,
		Vault:  deadletter.Vault{Keys: testkit.OneKey{}, Random: strings.NewReader(strings.Repeat("x", 1000))},
		Queues: map[string]string{"EventsQueue": "url/events", "RetryQueue": "url/retries"}, Audit: w,
		Log: slog.New(slog.NewJSONHandler(&w.log, nil)),
	}
	now := at
	h.Now = func() time.Time {
		defer func() { now = now.Add(w.tick) }()
		return now
	}
	return h.Function()
}

func (w *world) ask(t *testing.T, action, fields string) string {
	t.Helper()
	return testkit.Ask(t, w.function(), action, fields)
}

func ref(id string) delivery.Ref {
	return delivery.Ref{
		DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "evt_1", CreatedAt: at, Replay: 1,
	}
}

// before is ref with the time that the publisher gave.
func before(id string) delivery.Ref {
	r := ref(id)
	r.OccurredAt = occurred
	return r
}

var occurred = at.Add(-time.Hour)

func TestHandler_delivery_showsTheWholeRecord(t *testing.T) {
	w := &world{deliveries: []delivery.Record{{
		Ref: before("msg_1"), EventType: "user.created", State: delivery.Retrying, Attempts: 2, LastStatus: 503,
		Reason: delivery.ReasonHTTP5xx, DurationMS: 12, NextAttemptAt: at.Add(time.Minute), UpdatedAt: at.Add(time.Second),
	}}}
	want := Delivery{
		DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", EventID: "evt_1", EventType: "user.created",
		State: "retrying", Attempts: 2, Replay: 1, LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 12,
		NextAttemptAt: at.Add(time.Minute), OccurredAt: occurred, CreatedAt: at, UpdatedAt: at.Add(time.Second),
	}
	if diff := cmp.Diff(want, testkit.Read[Delivery](t, w.ask(t, "delivery", `"delivery_id":"msg_1"`))); diff != "" {
		t.Errorf("delivery (-want +got):\n%s", diff)
	}
}

func TestHandler_refusesWhatItCannotShow(t *testing.T) {
	for name, row := range map[string]struct{ action, fields, want string }{
		"a delivery without an id": {"delivery", ``, "invalid_field delivery_id"},
		"an unknown delivery":      {"delivery", `"delivery_id":"msg_9"`, "not_found delivery_id"},
		"another tenant's delivery": {
			"delivery", `"delivery_id":"msg_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"deliveries of no endpoint": {"deliveries", ``, "invalid_field endpoint_id"},
		"deliveries of a list of endpoints": {
			"deliveries", `"endpoint_id":"` + strings.Repeat("webhook_1 ", 26) + `"`, "invalid_field endpoint_id",
		},
		"deliveries of what is no event": {"deliveries", `"event":{"type":"user.deleted"}`, "invalid_field event"},
		"deliveries of an event without an id": {
			"deliveries", `"event":{"tenant_id":"acme","type":"user.deleted","data":{}}`, "invalid_field event_id",
		},
		"deliveries of an event of two ids": {
			"deliveries", `"event_id":"evt_2","event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`,
			"invalid_field event_id",
		},
		"deliveries of another tenant's event": {
			"deliveries", `"tenant_id":"other","event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`,
			"tenant_mismatch tenant_id",
		},
		"another tenant's deliveries": {
			"deliveries", `"endpoint_id":"webhook_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"a made-up cursor": {
			"deliveries", `"endpoint_id":"webhook_1","cursor":"AAAA"`, "invalid_cursor cursor",
		},
		"deliveries of an event of no tenant": {"deliveries", `"event_id":"evt_1"`, "invalid_field tenant_id"},
		"deliveries of an event and an endpoint": {
			"deliveries", `"event_id":"evt_1","tenant_id":"acme","endpoint_id":"webhook_1"`, "invalid_field endpoint_id",
		},
		"a page of an event": {
			"deliveries", `"event_id":"evt_1","tenant_id":"acme","limit":5`, "invalid_field limit",
		},
		"a next page of an event": {
			"deliveries", `"event_id":"evt_1","tenant_id":"acme","cursor":"A"`, "invalid_cursor cursor",
		},
		"endpoints of no state": {"endpoints", `"state":"down"`, "invalid_field state"},
		"another tenant's endpoint": {
			"endpoint", `"endpoint_id":"webhook_1","tenant_id":"other"`, "not_found endpoint_id",
		},
		"no endpoint": {"endpoint", ``, "invalid_field endpoint_id"},
		"a healthy endpoint by its id alone": {
			"endpoint", `"endpoint_id":"webhook_1"`, "invalid_field tenant_id",
		},
		"another tenant's endpoint in trouble": {
			"endpoint", `"endpoint_id":"webhook_down","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"an endpoint that was purged": {"endpoint", `"endpoint_id":"webhook_purged"`, "not_found endpoint_id"},
		"an endpoint of no tenant by its name": {
			"endpoint", `"endpoint_id":"orders"`, "invalid_field tenant_id",
		},
		"too many deliveries":       {"deliveries", `"endpoint_id":"webhook_1","limit":101`, "invalid_field limit"},
		"dead letters of nothing":   {"dead_letters", ``, "invalid_field endpoint_id"},
		"dead letters of no status": {"dead_letters", `"status":"alive"`, "invalid_field status"},
		"deliveries of an unknown host": {
			"deliveries", `"endpoint_id":"a.example","tenant_id":"acme"`, "not_found endpoint_id",
		},
		"dead letters of two endpoints of one description": {
			"dead_letters", `"endpoint_id":"orders","tenant_id":"acme"`, "invalid_field endpoint_id",
		},
		"dead letters of a span that ends before it begins": {
			"dead_letters", `"status":"dead","since":"2026-05-01T12:00:00Z","until":"2026-05-01T12:00:00Z"`,
			"invalid_field until",
		},
		"another tenant's dead letters": {
			"dead_letters", `"endpoint_id":"webhook_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"a dead letter without an id": {"dead_letter", ``, "invalid_field delivery_id"},
		"an unknown dead letter":      {"dead_letter", `"delivery_id":"msg_9"`, "not_found delivery_id"},
		"another tenant's dead letter": {
			"dead_letter", `"delivery_id":"msg_1","tenant_id":"other"`, "tenant_mismatch tenant_id",
		},
		"a dead letter that was changed":   {"dead_letter", `"delivery_id":"msg_1"`, "unopenable delivery_id"},
		"rejected events with a page of 0": {"rejected_events", `"limit":0`, "invalid_field limit"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{
				deliveries: []delivery.Record{{Ref: ref("msg_1")}},
				endpoints: []endpoint.Endpoint{
					{ID: "webhook_1", TenantID: "acme", Status: endpoint.Active, Description: "orders"},
					{ID: "webhook_down", TenantID: "acme", Status: endpoint.Active, Description: "orders"},
				},
				circuits: []circuit.Item{down, {TenantID: "acme", EndpointID: "webhook_purged", State: circuit.Open}},
				letters:  []deadletter.Record{{Ref: ref("msg_1"), Sealed: deadletter.Sealed{Body: []byte("changed")}}},
			}
			if got := testkit.Refusal(t, w.ask(t, row.action, row.fields)); got != row.want {
				t.Errorf("refused as %q, want %q", got, row.want)
			}
		})
	}
}

func TestHandler_keepsTheDetailOfErrorsInItsLog(t *testing.T) {
	const one, event = `"endpoint_id":"webhook_1","tenant_id":"acme"`, `"tenant_id":"acme","event_id":"evt_1"`
	const published = `"event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`
	for _, row := range []struct{ fails, action, fields string }{
		{"Deliveries.Get", "delivery", `"delivery_id":"msg_1"`},
		{"ListOpen", "deliveries", `"endpoint_id":"webhook_1"`},
		{"ListOpen", "deliveries", event},
		{"Endpoints.List", "deliveries", event},
		{"Endpoints.List", "deliveries", published},
		{"BatchGet", "deliveries", published},
		{"DeadLetters.List", "dead_letters", `"status":"dead"`},
		{"DeadLetters.List", "causes", ``},
		{"Read", "causes", ``},
		{"DeadLetters.Get", "dead_letter", `"delivery_id":"msg_1"`},
		{"Trouble", "endpoints", ``},
		{"Read", "endpoints", ``},
		{"Read", "endpoints", `"tenant_id":"acme"`},
		{"Endpoints.List", "endpoints", `"tenant_id":"acme"`},
		{"Backlog.Count", "endpoints", ``},
		{"Circuits.Get", "endpoint", one},
		{"Endpoints.Get", "endpoint", one},
		{"Marks", "endpoint", one},
		{"Backlog.Count", "endpoint", one},
		{"Trouble", "summary", ``},
		{"Total", "summary", ``},
		{"Slow", "summary", ``},
		{"Read", "summary", ``},
		{"DeadLetters.Count", "summary", ``},
		{"GetQueueAttributes", "summary", ``},
	} {
		w := &world{
			fails:     row.fails,
			endpoints: []endpoint.Endpoint{{ID: "webhook_1", TenantID: "acme"}},
			circuits: []circuit.Item{
				{TenantID: "acme", EndpointID: "webhook_2", Version: 1, State: circuit.Open, HeldUntil: at},
			},
			letters: []deadletter.Record{{Ref: ref("msg_1")}},
		}
		if got := w.ask(t, row.action, row.fields); got != testkit.Internal {
			t.Errorf("%s fails: %s answers %s", row.fails, row.action, got)
		}
		if !strings.Contains(w.log.String(), errAWS.Error()) {
			t.Errorf("%s fails: %s logs %s", row.fails, row.action, &w.log)
		}
	}
}

func TestHandler_deliveries_goesOnWithItsCursor(t *testing.T) {
	w := &world{deliveries: []delivery.Record{{Ref: ref("msg_2")}, {Ref: ref("msg_1")}}, next: "more"}
	const of = `"endpoint_id":"webhook_1"`
	first := testkit.Read[operator.List[Delivery]](t, w.ask(t, "deliveries", of+`,"limit":2`))
	next := testkit.Read[operator.List[Delivery]](t, w.ask(t, "deliveries", of+`,"cursor":"`+*first.NextCursor+`"`))
	want := []Delivery{showDelivery(w.deliveries[0]), showDelivery(w.deliveries[1])}
	if diff := cmp.Diff(want, first.Data) + cmp.Diff(want, next.Data); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestHandler_deadLetters_showsNothingSealed(t *testing.T) {
	e := endpoint.Endpoint{ID: "webhook_1", TenantID: "acme", URL: "https://a.example/secret", Description: "orders"}
	w := &world{endpoints: []endpoint.Endpoint{e}, letters: []deadletter.Record{{
		Ref: ref("msg_1"), EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, Attempts: 10,
		LastStatus: 504, ReplayCount: 2, DiedAt: at, Sealed: deadletter.Sealed{Body: []byte("sealed")},
	}}}
	const dead = `"endpoint_id":"webhook_1","status":"dead"`
	got := testkit.Read[operator.List[DeadLetter]](t, w.ask(t, "dead_letters", dead))
	want := operator.List[DeadLetter]{Data: []DeadLetter{{
		DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", Host: "a.example", Description: "orders",
		EventID: "evt_1", EventType: "user.created", Status: "dead", Reason: delivery.ReasonTimeout, Attempts: 10,
		LastStatus: 504, CreatedAt: at, DiedAt: at, ReplayCount: 2,
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
	w.fails, want.Data[0].Host, want.Data[0].Description = "Read", "", ""
	got = testkit.Read[operator.List[DeadLetter]](t, w.ask(t, "dead_letters", dead))
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(w.log.String(), errAWS.Error()) {
		t.Errorf("without endpoints (-want +got):\n%s\n%s", diff, &w.log)
	}
}

func TestHandler_deadLetters_selects(t *testing.T) {
	for fields, want := range map[string]job.Selector{
		`"endpoint_id":"webhook_1","tenant_id":"acme"`: {EndpointID: "webhook_1"}, // checked against each record
		`"status":"dead","reason":"unreadable"`:        {Status: "dead", Reason: "unreadable"},
		`"tenant_id":"acme","since":"2026-05-01T12:00:00Z","until":"2026-05-01T14:00:00+01:00"`: {
			TenantID: "acme", Since: at, Until: at.Add(time.Hour),
		},
		`"tenant_id":"acme","endpoint_id":"down.example"`: {EndpointID: "webhook_down"},
		`"tenant_id":"acme","endpoint_id":"orders"`:       {EndpointID: "webhook_down"},
	} {
		deleted := endpoint.Endpoint{ID: "webhook_old", TenantID: "acme", Description: "orders", Status: endpoint.Deleted}
		w := &world{next: "more", endpoints: append([]endpoint.Endpoint{deleted}, rows...)}
		page := testkit.Read[operator.List[DeadLetter]](t, w.ask(t, "dead_letters", fields))
		if diff := cmp.Diff(want, w.selector); diff != "" || page.NextCursor == nil {
			t.Fatalf("%s (-want +got):\n%s", fields, diff)
		}
	}
}

func TestHandler_deadLetter_opensWhatIsSealed(t *testing.T) {
	r := deadletter.Record{
		Ref: before("msg_1"), EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at,
	}
	entry := deadletter.Entry{DiedAt: at, Reason: delivery.ReasonTimeout, Attempts: 10, Replay: 1, MessageID: "m1"}
	vault := deadletter.Vault{Keys: testkit.OneKey{}, Random: strings.NewReader(strings.Repeat("y", 1000))}
	death := deadletter.Death{Body: []byte(`{"type":"user.created"}`), Entry: entry}
	sealed, err := vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = sealed
	w := &world{letters: []deadletter.Record{r}}
	listed := testkit.Read[operator.List[DeadLetter]](t, w.ask(t, "dead_letters", `"status":"dead"`))
	want := OpenedDeadLetter{
		DeadLetter: listed.Data[0], OccurredAt: occurred,
		Body: `{"type":"user.created"}`, History: []deadletter.Entry{entry},
		Headers: map[string]string{
			"content-type": "application/json", "wh-id": "msg_1", "wh-webhook-event": "user.created",
		},
	}
	answer := w.ask(t, "dead_letter", `"delivery_id":"msg_1","tenant_id":"acme"`)
	if diff := cmp.Diff(want, testkit.Read[OpenedDeadLetter](t, answer)); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	if strings.Contains(w.log.String(), "user.created") {
		t.Errorf("the body is logged: %s", &w.log)
	}
}

func TestHandler_deadLetter_hasNoHeadersWhenItWasUnreadable(t *testing.T) {
	got := headers(deadletter.Record{Ref: delivery.Ref{DeliveryID: "unreadable_1"}, Reason: delivery.ReasonUnreadable})
	if diff := cmp.Diff(map[string]string{}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestHandler_summary_countsDeadLettersAndMeasuresQueues(t *testing.T) {
	w := &world{
		counts: map[deadletter.Status]int{deadletter.Dead: 3, deadletter.Replayed: 1},
		depths: map[string][3]string{"url/events": {"1", "2", "3"}, "url/retries": {"0", "40", "0"}},
	}
	want := Summary{
		Endpoints: EndpointCounts{States: map[string]int{}, Slow: []SlowTenant{}},
		DeadLetters: map[deadletter.Status]LetterCount{
			"dead": {Count: 3, OldestDiedAt: at}, "replaying": {}, "replayed": {Count: 1, OldestDiedAt: at},
		},
		Queues: map[string]Depth{"EventsQueue": {Visible: 1, InFlight: 2, Delayed: 3}, "RetryQueue": {InFlight: 40}},
	}
	if diff := cmp.Diff(want, testkit.Read[Summary](t, w.ask(t, "summary", ""))); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	w.depths["url/retries"] = [3]string{"1", "many", "0"}
	if got := w.ask(t, "summary", ""); got != testkit.Internal {
		t.Errorf("a number that cannot be read is answered as %s", got)
	}
}
