package replay

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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
)

var (
	errAWS = errors.New("ThrottlingException")
	at     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

// world is everything around the handler. It takes every write.
type world struct {
	letters   map[string]deadletter.Record
	endpoints map[string]endpoint.Status
	rejected  []rejected.Event
	unaudited bool // the audit log takes nothing

	mu       sync.Mutex
	steps    []string // in order
	restored []string
}

func (w *world) step(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, s)
}

type auditLog struct{ *world }

func (w auditLog) Write(_ context.Context, lines ...audit.Line) error {
	if w.unaudited {
		return errAWS
	}
	for _, l := range lines {
		w.step("audit " + l.Action + " " + l.DeliveryID + l.MessageID + " by " + l.Operator)
	}
	return nil
}

type letters struct{ *world }

func (w letters) Get(_ context.Context, id string) (deadletter.Record, bool, error) {
	r, found := w.letters[id]
	if id == "broken" {
		return r, false, errAWS
	}
	return r, found, nil
}

func (w letters) List(context.Context, deadletter.Selector, dynamo.LetterPage) ([]deadletter.Record, string, error) {
	return nil, "", dynamo.ErrCursor
}

func (w letters) Claim(_ context.Context, r deadletter.Record, by, _ string, _ time.Time) (int, bool, bool, error) {
	w.step("claim " + r.DeliveryID + " by " + by)
	return r.ReplayCount + 1, true, true, nil
}

func (w letters) EndReplay(_ context.Context, id string, _ int, s deadletter.Status, _ time.Time) error {
	w.step("end " + id + " " + string(s))
	return nil
}

func (w letters) Purge(_ context.Context, r deadletter.Record) (bool, error) {
	w.step("purge " + r.DeliveryID)
	return true, nil
}

func (w *world) Update(_ context.Context, r delivery.Record) (bool, error) {
	w.step("write " + r.DeliveryID + " " + string(r.State))
	return true, nil
}

func (w *world) Purged(_ context.Context, r delivery.Record) error {
	w.step("purged " + r.DeliveryID)
	return nil
}

type endpoints struct{ *world }

func (w endpoints) Get(_ context.Context, tenantID, id string) (endpoint.Endpoint, bool, error) {
	if tenantID == "" || id == "" {
		return endpoint.Endpoint{}, false, errAWS // a key must not be empty
	}
	status, found := w.endpoints[id]
	return endpoint.Endpoint{ID: id, Status: status}, found, nil
}

func (w *world) Send(_ context.Context, messages []queue.Outgoing) []error {
	for _, m := range messages {
		w.step("send " + m.Body)
	}
	return make([]error, len(messages))
}

func (w *world) Receive(_ context.Context, most int) ([]rejected.Event, error) {
	some := w.rejected[:min(most, len(w.rejected))]
	w.rejected = w.rejected[len(some):]
	return some, nil
}

func (w *world) Restore(_ context.Context, events []rejected.Event) error {
	for _, e := range events {
		w.restored = append(w.restored, e.MessageID+e.Body) // bodies are not kept: there can be many
	}
	return nil
}

func (w *world) Delete(_ context.Context, e rejected.Event) error {
	if e.MessageID == "stuck" {
		return errAWS
	}
	w.step("delete " + e.MessageID)
	return nil
}

// sameKey seals and opens everything under one key.
type sameKey struct{}

func (sameKey) Generate(context.Context, map[string]string) (plain, wrapped []byte, err error) {
	return bytes.Repeat([]byte{7}, 32), []byte("wrapped"), nil
}

func (sameKey) Unwrap(context.Context, map[string]string, []byte) ([]byte, error) {
	return bytes.Repeat([]byte{7}, 32), nil
}

var vault = deadletter.Vault{Keys: sameKey{}, Random: rand.Reader}

const body = `{"type":"user.deleted","data":{}}`

// deliveryID is that of letter.
var deliveryID = delivery.ID("acme", "evt", "webhook_1", delivery.ContentOf([]byte(body)))

// letter is a dead letter of webhook_1, changed after it was sealed.
func letter(t *testing.T, change func(*deadletter.Record)) deadletter.Record {
	t.Helper()
	r := deadletter.Record{
		Ref: delivery.Ref{
			DeliveryID: deliveryID, TenantID: "acme", EndpointID: "webhook_1", EventID: "evt", CreatedAt: at,
		},
		EventType: "user.deleted", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at, UpdatedAt: at,
	}
	death := deadletter.Death{Body: []byte(body), Entry: deadletter.Entry{Reason: r.Reason}}
	sealed, err := vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	if r.Sealed = sealed; change != nil {
		change(&r)
	}
	return r
}

// newWorld has an active, a disabled and a deleted endpoint.
func newWorld(records ...deadletter.Record) *world {
	w := &world{letters: map[string]deadletter.Record{}, endpoints: map[string]endpoint.Status{
		"webhook_1": endpoint.Active, "webhook_deleted": endpoint.Deleted, "webhook_disabled": endpoint.Disabled,
	}}
	for _, r := range records {
		w.letters[r.DeliveryID] = r
	}
	return w
}

func (w *world) handler() *Handler {
	return &Handler{
		DeadLetters: letters{w}, States: w, Endpoints: endpoints{w}, Vault: vault, Deliveries: w, Events: w, Rejected: w,
		Audit: auditLog{w}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return at },
	}
}

func (w *world) ask(t *testing.T, request string) string {
	t.Helper()
	out, err := w.handler().Function().Invoke(t.Context(), []byte(request))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRun_some_namesTheReasonOfARefusal(t *testing.T) {
	unreadable := func(r *deadletter.Record) { // has neither tenant nor endpoint
		r.Ref, r.Reason = delivery.Ref{DeliveryID: "unreadable_1"}, delivery.ReasonUnreadable
	}
	sealed := func(id string, reason delivery.Reason) deadletter.Sealed {
		other := letter(t, nil)
		other.DeliveryID, other.Reason = id, reason
		parts, err := vault.SealDeath(t.Context(), other, deadletter.Death{
			Body: []byte(body), Entry: deadletter.Entry{Reason: reason},
		})
		if err != nil {
			t.Fatal(err)
		}
		return parts
	}
	other, unread := sealed("msg_2", delivery.ReasonTimeout), sealed("unreadable_1", delivery.ReasonUnreadable)
	for name, row := range map[string]struct {
		change func(*deadletter.Record)
		want   string
	}{
		"another tenant's":      {func(r *deadletter.Record) { r.TenantID = "other" }, "tenant_mismatch"},
		"an unreadable message": {unreadable, "unreadable"},
		"replayed before":       {func(r *deadletter.Record) { r.Status = deadletter.Replayed }, "already_replayed"},
		"claimed just now":      {func(r *deadletter.Record) { r.Status = deadletter.Replaying }, "replay_running"},
		"replayed 100 times":    {func(r *deadletter.Record) { r.ReplayCount = 100 }, "replay_limit"},
		"a deleted endpoint":    {func(r *deadletter.Record) { r.EndpointID = "webhook_deleted" }, "endpoint_deleted"},
		"a disabled endpoint":   {func(r *deadletter.Record) { r.EndpointID = "webhook_disabled" }, "endpoint_disabled"},
		"an unknown endpoint":   {func(r *deadletter.Record) { r.EndpointID = "webhook_9" }, "endpoint_deleted"},
		"of another type":       {func(r *deadletter.Record) { r.EventType = "user.created" }, "unopenable"},
		"of another event":      {func(r *deadletter.Record) { r.EventID = "evt_2" }, "unopenable"},
		"with another's body":   {func(r *deadletter.Record) { r.Sealed.Body = other.Body }, "unopenable"},
		"with another's parts":  {func(r *deadletter.Record) { r.Sealed = other }, "unopenable"},
		"of what was not read":  {func(r *deadletter.Record) { r.Sealed = unread }, "unopenable"},
		"as if it had failed":   {func(r *deadletter.Record) { r.Reason = delivery.ReasonHTTP5xx }, "unopenable"},
	} {
		w := newWorld(letter(t, row.change))
		tenantID := "acme"
		if name == "an unreadable message" {
			tenantID = ""
		}
		r := &run{h: w.handler(), call: &operator.Call{}, to: w, tenantID: tenantID, now: at.Add(deadletter.StaleClaim - 1)}
		for id := range w.letters {
			got := r.some(t.Context(), []string{id})[0]
			if got.Result != "refused" || got.Reason != row.want || w.steps != nil {
				t.Errorf("%s is %s as %q, want %q; %v", name, got.Result, got.Reason, row.want, w.steps)
			}
		}
	}
}

func TestHandler_deliveries_answersInTheOrderOfTheIDs(t *testing.T) {
	w := newWorld(letter(t, nil), letter(t, func(r *deadletter.Record) { r.DeliveryID = "moved" }))
	got := w.ask(t, `{"action":"deliveries","operator":"ann","delivery_ids":["none","`+deliveryID+`","moved","broken"]}`)
	want := `{"data":[{"delivery_id":"none","result":"not_found","reason":""},` +
		`{"delivery_id":"` + deliveryID + `","result":"replayed","reason":""},` +
		`{"delivery_id":"moved","result":"refused","reason":"unopenable"},` +
		`{"delivery_id":"broken","result":"failed","reason":"internal"}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	steps := []string{
		"audit replay " + deliveryID + " by ann", "claim " + deliveryID + " by ann",
		"write " + deliveryID + " queued", "send " + body,
		"end " + deliveryID + " replayed",
	}
	if diff := cmp.Diff(steps, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// underWay is a delivery that is further along than its replay: nothing takes it back.
type underWay struct {
	letters
	fresh bool // no run has claimed it before
}

func (u underWay) Claim(context.Context, deadletter.Record, string, string, time.Time) (int, bool, bool, error) {
	return 1, u.fresh, true, nil
}

func (underWay) Update(context.Context, delivery.Record) (bool, error) { return false, nil }

func (underWay) Purged(context.Context, delivery.Record) error { return errAWS }

func TestRun_some_endsWhatIsNotSent(t *testing.T) {
	for name, row := range map[string]struct {
		given func(w *world, h *Handler)
		want  string
		steps []string // after the audit line
	}{
		"by a run that has sent it and broke off": {
			func(w *world, h *Handler) { h.DeadLetters, h.States = underWay{letters{w}, false}, underWay{} },
			`"result":"replayed","reason":"resumed"`, []string{"end replayed"},
		},
		"acknowledged meanwhile": {
			func(w *world, h *Handler) { h.DeadLetters, h.States = underWay{letters{w}, true}, underWay{} },
			`"result":"refused","reason":"already_acknowledged"`, []string{"end replayed"},
		},
		"its queue takes nothing": {
			func(_ *world, h *Handler) { h.Deliveries = nowhere{} },
			`"result":"failed","reason":"not_sent"`, []string{"claim by ann", "write queued", "write dead", "end dead"},
		},
	} {
		w := newWorld(letter(t, nil))
		h := w.handler()
		row.given(w, h)
		const request = `{"action":"deliveries","operator":"ann","delivery_ids":["`
		got, err := h.Function().Invoke(t.Context(), []byte(request+deliveryID+`"]}`))
		want := append([]string{"audit replay by ann"}, row.steps...)
		steps := strings.Split(strings.ReplaceAll(strings.Join(w.steps, "\n"), deliveryID+" ", ""), "\n")
		if diff := cmp.Diff(want, steps); diff != "" || err != nil || !strings.Contains(string(got), row.want) {
			t.Errorf("%s: %s, %v, steps (-want +got):\n%s", name, got, err, diff)
		}
	}
}

func TestHandler_discardRejectedEvents_deletesTheNamedOnesAndReturnsTheRest(t *testing.T) {
	w := &world{rejected: []rejected.Event{
		{MessageID: "1", EventID: "evt_1", Body: "{}"}, {MessageID: "2", EventID: "evt_2", Body: "{}"},
		{MessageID: "1", EventID: "evt_1", Body: "{}"}, {MessageID: "3", EventID: "evt_3", Body: "{}"},
		{MessageID: "stuck", EventID: "evt_4", Body: "{}"},
	}}
	got := w.ask(t, `{"action":"discard_rejected_events","operator":"ann","message_ids":["1","9","stuck"],"confirm":true}`)
	want := `{"data":[` +
		`{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""},` +
		`{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""},` +
		`{"message_id":"stuck","event_id":"evt_4","result":"failed","reason":"internal"},` +
		`{"message_id":"9","event_id":"","result":"not_found","reason":""}],"complete":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"audit discard_rejected 1 by ann", "audit discard_rejected 1 by ann", "audit discard_rejected stuck by ann",
		"delete 1", "delete 1",
	}, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "3", "stuck"}, w.restored, inAnyOrder); diff != "" {
		t.Errorf("returned to the queue (-want +got):\n%s", diff)
	}
}

// A second message under an id may be anywhere on the queue: having met each id once is not the end.
func TestHandler_discardRejectedEvents_searchesTheWholeQueueForTwins(t *testing.T) {
	twin := rejected.Event{MessageID: "1", EventID: "evt_1", Body: "{}"}
	other := rejected.Event{MessageID: "2", EventID: "evt_2", Body: "{}"}
	others := slices.Repeat([]rejected.Event{other}, 20)
	w := &world{rejected: slices.Concat([]rejected.Event{twin}, others, []rejected.Event{twin})}
	got := w.ask(t, `{"action":"discard_rejected_events","operator":"ann","message_ids":["1"],"confirm":true}`)
	const discarded = `{"message_id":"1","event_id":"evt_1","result":"discarded","reason":""}`
	if diff := cmp.Diff(`{"data":[`+discarded+`,`+discarded+`],"complete":true}`, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if len(w.rejected) != 0 || len(w.restored) != 20 {
		t.Errorf("%d were not received and %d returned, want 0 and 20", len(w.rejected), len(w.restored))
	}
}

// An answer that has no room for more does not say that nothing is left.
func TestHandler_discardRejectedEvents_isCompleteOnlyAtTheEnd(t *testing.T) {
	w := &world{rejected: slices.Repeat([]rejected.Event{{MessageID: "1", EventID: "evt_1", Body: "{}"}}, maxIDs+1)}
	const request = `{"action":"discard_rejected_events","operator":"ann","message_ids":["1"],"confirm":true}`
	for _, want := range []string{`"complete":false}`, `"complete":true}`} {
		if got := w.ask(t, request); !strings.HasSuffix(got, want) {
			t.Errorf("answered %s with %d left, want %s", got[max(0, len(got)-80):], len(w.rejected), want)
		}
	}
}

func TestHandler_endpoint_takesNoHost(t *testing.T) {
	for _, id := range []string{"", "a.example"} {
		got := (&world{}).ask(t, `{"operator":"ann","action":"endpoint","endpoint_id":"`+id+`"}`)
		if !strings.Contains(got, `"code":"invalid_field"`) || !strings.Contains(got, `"field":"endpoint_id"`) {
			t.Errorf("%q: %s", id, got)
		}
	}
}

func TestHandler_rejectedEvents_areNamedAndConfirmed(t *testing.T) {
	for fields, field := range map[string]string{
		`discard_rejected_events","message_ids":["1"]`:                 "confirm",
		`discard_rejected_events","message_ids":["1"],"confirm":false`: "confirm",
		`discard_rejected_events","confirm":true`:                      "message_ids",
		`discard_rejected_events","confirm":true,"message_ids":[]`:     "message_ids",
		`discard_rejected_events","confirm":true,"all":true`:           "all",
		`rejected_events"`:                                "message_ids",
		`rejected_events","message_ids":[]`:               "message_ids",
		`rejected_events","all":true,"message_ids":["1"]`: "message_ids",
	} {
		w := &world{rejected: []rejected.Event{{MessageID: "1", EventID: "evt_1", Body: "{}"}}}
		got := w.ask(t, `{"operator":"ann","action":"`+fields+`}`)
		if !strings.Contains(got, `"field":"`+field+`"`) || len(w.steps) != 0 || len(w.rejected) != 1 {
			t.Errorf("%s: %s, then %v; want a refusal of %s", fields, got, w.steps, field)
		}
	}
}

var inAnyOrder = cmpopts.SortSlices(func(a, b string) bool { return a < b })

func TestHandler_rejectedEvents_publishesWithItsIDAndReturnsTheRest(t *testing.T) {
	const good = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
	const named = `{"id":"evt_4","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
	w := &world{rejected: []rejected.Event{
		{MessageID: "1", EventID: "evt_1", Body: good},
		{MessageID: "2", EventID: "evt_2", Body: "{}"},
		{MessageID: "3", EventID: "evt_3", Body: good},
		{MessageID: "4", EventID: "evt_4", Body: named},
	}}
	got := w.ask(t, `{"action":"rejected_events","operator":"ann","message_ids":["1","2","4","9"]}`)
	want := `{"data":[` +
		`{"message_id":"2","event_id":"evt_2","result":"refused","reason":` +
		`"invalid event: tenant_id: is required"},` +
		`{"message_id":"1","event_id":"evt_1","result":"replayed","reason":""},` +
		`{"message_id":"4","event_id":"evt_4","result":"replayed","reason":""},` +
		`{"message_id":"9","event_id":"","result":"not_found","reason":""}],"complete":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2", "3"}, w.restored, inAnyOrder); diff != "" {
		t.Errorf("returned to the queue (-want +got):\n%s", diff)
	}
	steps := []string{
		"audit publish 1 by ann", "audit publish 4 by ann", `send {"id":"evt_1",` + good[1:], "send " + named,
		"delete 1", "delete 4",
	}
	if diff := cmp.Diff(steps, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestHandler_changesNothingThatCannotBeAudited(t *testing.T) {
	const event = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
	for _, fields := range []string{
		`deliveries","delivery_ids":["` + deliveryID + `"]`, `purge","confirm":true,"delivery_ids":["` + deliveryID + `"]`,
		`rejected_events","message_ids":["1"]`, `discard_rejected_events","confirm":true,"message_ids":["1"]`,
	} {
		w := newWorld(letter(t, nil))
		w.unaudited, w.rejected = true, []rejected.Event{{MessageID: "1", EventID: "evt", Body: event}}
		got := w.ask(t, `{"operator":"ann","action":"`+fields+`}`)
		if !strings.Contains(got, `"result":"failed","reason":"internal"`) || len(w.steps) > 0 {
			t.Errorf("%s: %s, and %v", fields, got, w.steps)
		}
	}
}
