//go:build emulator

package replay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestAnEndpointIsReplayedPageByPageOldestFirst(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.die(t, fmt.Sprintf("msg_%02d", i), 0)
	}
	dry := ask[operator.List[replay.Result]](
		t,
		w.replay.Function(),
		"endpoint",
		`"endpoint_id":"webhook_1","dry_run":true,"limit":100`,
	)
	if len(dry.Data) != 25 || dry.Data[0] != (replay.Result{DeliveryID: "msg_00", Result: "would_replay"}) ||
		len(w.sent(t)) != 0 {
		t.Fatalf("%+v", dry)
	}
	var got []string
	for cursor := ""; ; {
		page := ask[operator.List[replay.Result]](
			t,
			w.replay.Function(),
			"endpoint",
			`"endpoint_id":"webhook_1","limit":10`+cursor,
		)
		for _, r := range page.Data {
			if r.Result != "replayed" {
				t.Errorf("%+v", r)
			}
			got = append(got, r.DeliveryID)
		}
		if page.NextCursor == nil {
			break
		}
		cursor = `,"cursor":"` + *page.NextCursor + `"`
	}
	if len(got) != 25 || !slices.IsSorted(got) {
		t.Errorf("%v", got)
	}
	w.die(t, "msg_last", 0)
	for name, fields := range map[string]string{
		"endpoint_id": `"limit":1`,
		"tenant_id":   `"endpoint_id":"webhook_1","tenant_id":"other"`,
		"cursor":      `"endpoint_id":"webhook_1","cursor":"` + strings.Repeat("A", 20) + `"`,
		"dry_run":     `"endpoint_id":"webhook_1","dry_run":"yes"`,
		"since":       `"endpoint_id":"webhook_1","since":"2026-01-01"`,
	} {
		if got := ask[refused](t, w.replay.Function(), "endpoint", fields); got.Error.Field != name {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhatTimeDoesNotReachIsNotStarted(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // less than is kept back
	defer cancel()
	for action, want := range map[string]string{
		`{"action":"deliveries","operator":"ann","delivery_ids":["msg_1"]}`:           `{"delivery_id":"msg_1","result":"not_started","reason":""}`,
		`{"action":"purge","operator":"ann","delivery_ids":["msg_1"],"confirm":true}`: `"not_started"`,
		`{"action":"endpoint","operator":"ann","endpoint_id":"webhook_1"}`:            `"next_cursor":"`,
		`{"action":"rejected_events","operator":"ann","message_ids":["7"]}`:           `"not_started"`,
	} {
		out, err := w.replay.Function().Invoke(ctx, []byte(action))
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s answered %s, %v", action, out, err)
		}
	}
	if w.status(t, "msg_1") != vault.Dead {
		t.Error("it was started")
	}
	// The cursor of an unfinished first page asks for that page again.
	out, err := w.replay.Function().
		Invoke(ctx, []byte(`{"action":"endpoint","operator":"ann","endpoint_id":"webhook_1"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out), `"next_cursor":`)
	page := ask[operator.List[replay.Result]](
		t,
		w.replay.Function(),
		"endpoint",
		`"endpoint_id":"webhook_1","cursor":`+strings.TrimSuffix(rest, "}"),
	)
	if len(page.Data) != 1 || page.Data[0].Result != "replayed" {
		t.Errorf("%+v", page)
	}
}

func TestPurgeNeedsConfirmation(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	if got := ask[refused](t, w.replay.Function(), "purge", `"delivery_ids":["msg_1"]`); got.Error.Field != "confirm" {
		t.Errorf("%+v", got)
	}
	w.status(t, "msg_1")
	got := ask[replay.Results](
		t,
		w.replay.Function(),
		"purge",
		`"delivery_ids":["msg_1","msg_2","msg_1"],"confirm":true`,
	)
	if !slices.Equal(
		got.Data,
		[]replay.Result{{DeliveryID: "msg_1", Result: "purged"}, {DeliveryID: "msg_2", Result: "not_found"}},
	) {
		t.Errorf("%+v", got)
	}
	if got := ask[refused](t, w.inspect.Function(), "dead_letter", `"delivery_id":"msg_1"`); got.Error.Code != "not_found" {
		t.Errorf("%+v", got)
	}
}

// reject puts an event on EventsDeadLetterQueue and returns its message id.
func (w *world) rejectEvent(t *testing.T, body string, attributes ...string) string {
	t.Helper()
	in := &sqs.SendMessageInput{
		QueueUrl:          &w.reject.URL,
		MessageBody:       &body,
		MessageAttributes: map[string]types.MessageAttributeValue{},
	}
	for i := 0; i+1 < len(attributes); i += 2 {
		in.MessageAttributes[attributes[i]] = types.MessageAttributeValue{
			DataType:    aws.String("String"),
			StringValue: &attributes[i+1],
		}
	}
	out, err := w.sqs.SendMessage(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return *out.MessageId
}

const goodEvent = `{ "tenant_id":"acme", "type":"user.deleted", "data":{ "b":1.50 } }`

func TestRejectedEventsAreSeenButNotConsumed(t *testing.T) {
	w := newWorld(t)
	bad := w.rejectEvent(
		t,
		`{"type":"user.flew"}`,
		"reason",
		"invalid event: type: is not an implemented event",
		"event_id",
		"e1",
	)
	crashed := w.rejectEvent(t, goodEvent)
	for range 2 { // looking twice sees the same
		got := ask[operator.List[inspect.RejectedEvent]](t, w.inspect.Function(), "rejected_events", "")
		if len(got.Data) != 2 {
			t.Fatalf("%+v", got)
		}
		for _, e := range got.Data {
			switch e.MessageID {
			case bad:
				if e.EventID != "e1" || !strings.Contains(e.Reason, "not an implemented event") ||
					*e.Body != `{"type":"user.flew"}` ||
					e.SentAt == nil {
					t.Errorf("%+v", e)
				}
			case crashed:
				if e.EventID != crashed || e.Reason != "not_processed" || *e.Body != goodEvent {
					t.Errorf("%+v", e)
				}
			}
		}
	}
	s := ask[inspect.Summary](t, w.inspect.Function(), "summary", "")
	if d := s.Queues["EventsDeadLetterQueue"]; d.Visible != 2 || d.InFlight != 0 {
		t.Errorf("%+v", d)
	}
}

func TestRejectedEventsArePublishedAgainUnderTheirFirstId(t *testing.T) {
	w := newWorld(t)
	bad := w.rejectEvent(
		t,
		`{"type":"user.flew","tenant_id":"acme","data":{}}`,
		"reason",
		"invalid event",
		"event_id",
		"e1",
	)
	crashed := w.rejectEvent(t, goodEvent)
	named := w.rejectEvent(t, `{"id":"e2",`+goodEvent[1:])
	other := w.rejectEvent(t, goodEvent)
	fields := `"message_ids":["` + bad + `","` + crashed + `","` + named + `","none"]`
	got := ask[replay.RejectedResults](t, w.replay.Function(), "rejected_events", fields)
	results := map[string]string{}
	for _, r := range got.Data {
		results[r.MessageID] = r.Result
	}
	if len(results) != 4 || results[bad] != "refused" || results[crashed] != "replayed" ||
		results[named] != "replayed" ||
		results["none"] != "not_found" ||
		!got.Complete {
		t.Errorf("%+v", got)
	}
	var bodies []string
	for _, m := range testkit.Receive(t, w.cfg, w.events, 0) {
		bodies = append(bodies, *m.Body)
	}
	slices.Sort(bodies)
	want := []string{`{"id":"` + crashed + `",` + goodEvent[1:], `{"id":"e2",` + goodEvent[1:]}
	slices.Sort(want)
	if !slices.Equal(bodies, want) {
		t.Errorf("published %q\nwant %q", bodies, want)
	}
	// What was refused and what was not asked for is still there; all takes the good one.
	all := ask[replay.RejectedResults](t, w.replay.Function(), "rejected_events", `"all":true`)
	if len(all.Data) != 2 || !all.Complete {
		t.Errorf("%+v", all)
	}
	left := ask[operator.List[inspect.RejectedEvent]](t, w.inspect.Function(), "rejected_events", "")
	if len(left.Data) != 1 || left.Data[0].MessageID != bad || other == bad {
		t.Errorf("left %+v", left)
	}
	for name, fields := range map[string]string{"neither": "", "both": `"all":true,"message_ids":["7"]`, "none": `"message_ids":[]`} {
		if got := ask[refused](t, w.replay.Function(), "rejected_events", fields); got.Error.Field != "message_ids" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestInspectListsWhatIsOpenAndDead(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.die(t, fmt.Sprint("msg_", i), 0)
	}
	w.outcome(t, "msg_1")
	if got := ask[operator.List[inspect.Delivery]](t, w.inspect.Function(), "deliveries", `"endpoint_id":"webhook_1","limit":2`); len(
		got.Data,
	) != 2 ||
		got.NextCursor == nil {
		t.Errorf("%+v", got)
	}
	dead := ask[operator.List[inspect.DeadLetter]](
		t,
		w.inspect.Function(),
		"dead_letters",
		`"endpoint_id":"webhook_1","status":"dead"`,
	)
	if len(dead.Data) != 2 || dead.Data[0].DeliveryID != "msg_2" || dead.Data[0].TenantID != "acme" ||
		dead.Data[0].Attempts != 10 ||
		dead.NextCursor != nil {
		t.Errorf("%+v", dead)
	}
	if got := ask[operator.List[inspect.DeadLetter]](t, w.inspect.Function(), "dead_letters", `"status":"replayed"`); len(
		got.Data,
	) != 1 ||
		got.Data[0].ReplayCount != 1 {
		t.Errorf("%+v", got)
	}
	s := ask[inspect.Summary](t, w.inspect.Function(), "summary", "")
	if s.DeadLetters["dead"].Count != 2 || s.DeadLetters["replayed"].Count != 1 ||
		s.DeadLetters["replaying"].OldestDiedAt != nil ||
		s.Queues["DeliveryQueue"].Visible != 1 {
		t.Errorf("%+v", s)
	}
	if o := s.DeadLetters["dead"].OldestDiedAt; o == nil || !o.Equal(dead.Data[1].DiedAt) {
		t.Errorf("oldest %v", o)
	}
	first := ask[operator.List[inspect.Delivery]](
		t,
		w.inspect.Function(),
		"deliveries",
		`"endpoint_id":"webhook_1","limit":1`,
	)
	for name, row := range map[string]struct{ action, fields, code, field string }{
		"no filter":            {"dead_letters", ``, "invalid_field", "endpoint_id"},
		"no such status":       {"dead_letters", `"status":"gone"`, "invalid_field", "status"},
		"tenant of nothing":    {"dead_letters", `"status":"dead","tenant_id":"acme"`, "invalid_field", "tenant_id"},
		"another tenant":       {"dead_letters", `"endpoint_id":"webhook_1","tenant_id":"other"`, "tenant_mismatch", "tenant_id"},
		"another list's":       {"dead_letters", `"endpoint_id":"webhook_1","cursor":"` + *first.NextCursor + `"`, "invalid_cursor", "cursor"},
		"another endpoint's":   {"deliveries", `"endpoint_id":"webhook_2","cursor":"` + *first.NextCursor + `"`, "invalid_cursor", "cursor"},
		"unknown delivery":     {"delivery", `"delivery_id":"msg_9"`, "not_found", "delivery_id"},
		"delivery of another":  {"delivery", `"delivery_id":"msg_1","tenant_id":"other"`, "tenant_mismatch", "tenant_id"},
		"no delivery id":       {"delivery", ``, "invalid_field", "delivery_id"},
		"no endpoint":          {"deliveries", ``, "invalid_field", "endpoint_id"},
		"letter of another":    {"dead_letter", `"delivery_id":"msg_1","tenant_id":"other"`, "tenant_mismatch", "tenant_id"},
		"a field of elsewhere": {"summary", `"delivery_id":"msg_1"`, "unknown_field", "delivery_id"},
		"limit":                {"rejected_events", `"limit":0`, "invalid_field", "limit"},
	} {
		if got := ask[refused](t, w.inspect.Function(), row.action, row.fields); got.Error.Code != row.code ||
			got.Error.Field != row.field {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
