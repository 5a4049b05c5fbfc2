//go:build emulator

package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// results are those of msg_00 on, all alike.
func results(n int, result string) []replay.Result {
	all := make([]replay.Result, n)
	for i := range all {
		all[i] = replay.Result{DeliveryID: fmt.Sprintf("msg_%02d", i), Result: result}
	}
	return all
}

func TestHandler_endpoint_replaysPageByPageOldestFirst(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.die(t, fmt.Sprintf("msg_%02d", i), 0)
	}
	const dryRun = `"endpoint_id":"webhook_1","dry_run":true,"limit":100`
	dry := ask[operator.List[replay.Result]](t, w.replay.Function(), "endpoint", dryRun)
	want := operator.List[replay.Result]{Data: results(25, "would_replay")}
	if diff := cmp.Diff(want, dry); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	if sent := w.sent(t); len(sent) != 0 {
		t.Fatalf("a dry run sent %+v", sent)
	}
	var got []replay.Result
	for cursor := ""; ; {
		fields := `"endpoint_id":"webhook_1","limit":10` + cursor
		page := ask[operator.List[replay.Result]](t, w.replay.Function(), "endpoint", fields)
		got = append(got, page.Data...)
		if page.NextCursor == nil {
			break
		}
		cursor = `,"cursor":"` + *page.NextCursor + `"`
	}
	if diff := cmp.Diff(results(25, "replayed"), got); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
}

func TestHandler_endpoint_namesTheFieldAtFault(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	for name, fields := range map[string]string{
		"endpoint_id": `"limit":1`,
		"tenant_id":   `"endpoint_id":"webhook_1","tenant_id":"other"`,
		"cursor":      `"endpoint_id":"webhook_1","cursor":"` + strings.Repeat("A", 20) + `"`,
		"dry_run":     `"endpoint_id":"webhook_1","dry_run":"yes"`,
		"since":       `"endpoint_id":"webhook_1","since":"2026-01-01"`,
	} {
		if got := ask[refused](t, w.replay.Function(), "endpoint", fields); got.Error.Field != name {
			t.Errorf("%s is refused with %+v, want field %s", fields, got, name)
		}
	}
}

func TestHandler_Function_startsNothingThatTimeDoesNotReach(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // less than is kept back
	defer cancel()
	const notStarted = `{"data":[{"delivery_id":"msg_1","result":"not_started","reason":""}]}`
	for request, want := range map[string]string{
		`{"action":"deliveries","operator":"ann","delivery_ids":["msg_1"]}`:           notStarted,
		`{"action":"purge","operator":"ann","delivery_ids":["msg_1"],"confirm":true}`: notStarted,
		`{"action":"rejected_events","operator":"ann","message_ids":["7"]}`: `{"data":[` +
			`{"message_id":"7","event_id":"","result":"not_started","reason":""}],"complete":false}`,
	} {
		out, err := w.replay.Function().Invoke(ctx, []byte(request))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", request, diff)
		}
	}
	if got := w.status(t, "msg_1"); got != vault.Dead {
		t.Errorf("msg_1 is %s, want %s", got, vault.Dead)
	}
}

// The cursor of an unfinished first page asks for that page again.
func TestHandler_endpoint_goesOnWhereTimeRanOut(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // less than is kept back
	defer cancel()
	request := []byte(`{"action":"endpoint","operator":"ann","endpoint_id":"webhook_1"}`)
	out, err := w.replay.Function().Invoke(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	var unfinished operator.List[replay.Result]
	if err := json.Unmarshal(out, &unfinished); err != nil {
		t.Fatal(err)
	}
	want := []replay.Result{{DeliveryID: "msg_1", Result: "not_started"}}
	if diff := cmp.Diff(want, unfinished.Data); diff != "" || unfinished.NextCursor == nil {
		t.Fatalf("answered %s, want a cursor and (-want +got):\n%s", out, diff)
	}
	fields := `"endpoint_id":"webhook_1","cursor":"` + *unfinished.NextCursor + `"`
	page := ask[operator.List[replay.Result]](t, w.replay.Function(), "endpoint", fields)
	want[0].Result = "replayed"
	if diff := cmp.Diff(operator.List[replay.Result]{Data: want}, page); diff != "" {
		t.Errorf("the same page again (-want +got):\n%s", diff)
	}
}

func TestHandler_purge_needsConfirmation(t *testing.T) {
	w := newWorld(t)
	w.die(t, "msg_1", 0)
	if got := ask[refused](t, w.replay.Function(), "purge", `"delivery_ids":["msg_1"]`); got.Error.Field != "confirm" {
		t.Errorf("without confirm: %+v, want it named", got)
	}
	w.status(t, "msg_1") // fails when it is gone
	const confirmed = `"delivery_ids":["msg_1","msg_2","msg_1"],"confirm":true`
	got := ask[replay.Results](t, w.replay.Function(), "purge", confirmed)
	want := replay.Results{Data: []replay.Result{
		{DeliveryID: "msg_1", Result: "purged"}, {DeliveryID: "msg_2", Result: "not_found"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("purged (-want +got):\n%s", diff)
	}
	gone := ask[refused](t, w.inspect.Function(), "dead_letter", `"delivery_id":"msg_1"`)
	if gone.Error.Code != "not_found" {
		t.Errorf("a purged dead letter is answered %+v, want not_found", gone)
	}
}

// rejectEvent puts an event on EventsDeadLetterQueue and returns its message id.
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

func TestHandler_rejectedEvents_areSeenButNotConsumed(t *testing.T) {
	w := newWorld(t)
	const badEvent, reason = `{"type":"user.flew"}`, "invalid event: type: is not an implemented event"
	bad := w.rejectEvent(t, badEvent, "reason", reason, "event_id", "e1")
	crashed := w.rejectEvent(t, goodEvent)
	want := operator.List[inspect.RejectedEvent]{Data: []inspect.RejectedEvent{
		{MessageID: bad, EventID: "e1", Reason: reason, Bytes: len(badEvent), Body: aws.String(badEvent)},
		{
			MessageID: crashed, EventID: crashed, Reason: "not_processed",
			Bytes: len(goodEvent), Body: aws.String(goodEvent),
		},
	}}
	byID := cmpopts.SortSlices(func(a, b inspect.RejectedEvent) bool { return a.MessageID < b.MessageID })
	for range 2 { // looking twice sees the same
		got := ask[operator.List[inspect.RejectedEvent]](t, w.inspect.Function(), "rejected_events", "")
		if diff := cmp.Diff(want, got, byID, cmpopts.IgnoreFields(inspect.RejectedEvent{}, "SentAt")); diff != "" {
			t.Errorf("rejected events (-want +got):\n%s", diff)
		}
		for _, e := range got.Data {
			if e.SentAt == nil {
				t.Errorf("%s does not say when it was sent", e.MessageID)
			}
		}
	}
	s := ask[inspect.Summary](t, w.inspect.Function(), "summary", "")
	if diff := cmp.Diff(inspect.Depth{Visible: 2}, s.Queues["EventsDeadLetterQueue"]); diff != "" {
		t.Errorf("depth of EventsDeadLetterQueue (-want +got):\n%s", diff)
	}
}

// outcomes are a rejected event's results by message id.
func outcomes(got replay.RejectedResults) map[string]string {
	byID := map[string]string{}
	for _, r := range got.Data {
		byID[r.MessageID] = r.Result
	}
	return byID
}

func TestHandler_rejectedEvents_publishesUnderTheFirstID(t *testing.T) {
	w := newWorld(t)
	const badEvent = `{"type":"user.flew","tenant_id":"acme","data":{}}`
	bad := w.rejectEvent(t, badEvent, "reason", "invalid event", "event_id", "e1")
	crashed := w.rejectEvent(t, goodEvent)
	named := w.rejectEvent(t, `{"id":"e2",`+goodEvent[1:])
	other := w.rejectEvent(t, goodEvent)
	fields := `"message_ids":["` + bad + `","` + crashed + `","` + named + `","none"]`
	got := ask[replay.RejectedResults](t, w.replay.Function(), "rejected_events", fields)
	want := map[string]string{bad: "refused", crashed: "replayed", named: "replayed", "none": "not_found"}
	if diff := cmp.Diff(want, outcomes(got)); diff != "" || !got.Complete {
		t.Errorf("results, complete %v (-want +got):\n%s", got.Complete, diff)
	}
	var bodies []string
	for _, m := range testkit.Receive(t, w.cfg, w.events, 0) {
		bodies = append(bodies, *m.Body)
	}
	published := []string{`{"id":"` + crashed + `",` + goodEvent[1:], `{"id":"e2",` + goodEvent[1:]}
	if diff := cmp.Diff(published, bodies, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
	// What was refused and what was not asked for is still there; all takes the good one.
	all := ask[replay.RejectedResults](t, w.replay.Function(), "rejected_events", `"all":true`)
	want = map[string]string{bad: "refused", other: "replayed"}
	if diff := cmp.Diff(want, outcomes(all)); diff != "" || !all.Complete {
		t.Errorf("results of all, complete %v (-want +got):\n%s", all.Complete, diff)
	}
	left := ask[operator.List[inspect.RejectedEvent]](t, w.inspect.Function(), "rejected_events", "")
	if len(left.Data) != 1 || left.Data[0].MessageID != bad {
		t.Errorf("left %+v, want %s alone", left, bad)
	}
}

// A publisher knows the id that SendMessage returned, and an operator the publisher.
func TestHandler_discardRejectedEvents_takesThePublishersMessageID(t *testing.T) {
	w := newWorld(t)
	const badEvent = `{"type":"user.flew","tenant_id":"acme","data":{}}`
	w.rejectEvent(t, badEvent, "reason", "invalid event", "event_id", "e1", "message_id", "published-1")
	w.rejectEvent(t, badEvent, "reason", "invalid event", "event_id", "e2", "message_id", "published-2")
	old := w.rejectEvent(t, badEvent, "reason", "invalid event", "event_id", "e3")
	crashed := w.rejectEvent(t, goodEvent)
	fields := `"message_ids":["published-1","` + old + `","none"],"confirm":true`
	got := ask[replay.RejectedResults](t, w.replay.Function(), "discard_rejected_events", fields)
	want := map[string]string{"published-1": "discarded", old: "discarded", "none": "not_found"}
	if diff := cmp.Diff(want, outcomes(got)); diff != "" || !got.Complete {
		t.Errorf("results, complete %v (-want +got):\n%s", got.Complete, diff)
	}
	left := map[string]string{} // event ids
	for _, e := range ask[operator.List[inspect.RejectedEvent]](t, w.inspect.Function(), "rejected_events", "").Data {
		left[e.MessageID] = e.EventID
	}
	if diff := cmp.Diff(map[string]string{"published-2": "e2", crashed: crashed}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func TestHandler_rejectedEvents_wantsIDsOrAll(t *testing.T) {
	w := newWorld(t)
	for name, fields := range map[string]string{
		"neither": "", "both": `"all":true,"message_ids":["7"]`, "none": `"message_ids":[]`,
	} {
		if got := ask[refused](t, w.replay.Function(), "rejected_events", fields); got.Error.Field != "message_ids" {
			t.Errorf("%s: refused with %+v, want field message_ids", name, got)
		}
	}
}

// deadLetter is what inspect lists of a delivery after its first death.
func (w *world) deadLetter(id string, status vault.Status, replays int) inspect.DeadLetter {
	return inspect.DeadLetter{
		DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "event_1", EventType: "user.deleted",
		Status: status, Reason: delivery.ReasonHTTP5xx, Attempts: 10, LastStatus: 503, CreatedAt: w.created,
		ReplayCount: replays,
	}
}

func TestHandler_Function_listsWhatIsOpenAndDead(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.die(t, fmt.Sprint("msg_", i), 0)
	}
	w.outcome(t, "msg_1")
	open := ask[operator.List[inspect.Delivery]](
		t, w.inspect.Function(), "deliveries", `"endpoint_id":"webhook_1","limit":2`)
	if len(open.Data) != 2 || open.NextCursor == nil {
		t.Errorf("open deliveries %+v, want two and a cursor", open)
	}
	letters := func(fields string) operator.List[inspect.DeadLetter] {
		return ask[operator.List[inspect.DeadLetter]](t, w.inspect.Function(), "dead_letters", fields)
	}
	dead := letters(`"endpoint_id":"webhook_1","status":"dead"`)
	want := operator.List[inspect.DeadLetter]{
		Data: []inspect.DeadLetter{w.deadLetter("msg_2", vault.Dead, 0), w.deadLetter("msg_0", vault.Dead, 0)},
	}
	diedAt := cmpopts.IgnoreFields(inspect.DeadLetter{}, "DiedAt")
	if diff := cmp.Diff(want, dead, diedAt); diff != "" {
		t.Fatalf("dead ones (-want +got):\n%s", diff)
	}
	want.Data = []inspect.DeadLetter{w.deadLetter("msg_1", vault.Replayed, 1)}
	replayed := letters(`"status":"replayed"`)
	if diff := cmp.Diff(want, replayed, diedAt); diff != "" {
		t.Fatalf("replayed ones (-want +got):\n%s", diff)
	}
	s := ask[inspect.Summary](t, w.inspect.Function(), "summary", "")
	summary := inspect.Summary{
		Endpoints: inspect.EndpointCounts{States: map[string]int{}},
		DeadLetters: map[vault.Status]inspect.Count{
			vault.Dead:      {Count: 2, OldestDiedAt: &dead.Data[1].DiedAt},
			vault.Replaying: {},
			vault.Replayed:  {Count: 1, OldestDiedAt: &replayed.Data[0].DiedAt},
		},
		Queues: map[string]inspect.Depth{"DeliveryQueue": {Visible: 1}, "EventsDeadLetterQueue": {}},
	}
	if diff := cmp.Diff(summary, s); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestHandler_Function_refusesWhatItCannotShow(t *testing.T) {
	w := newWorld(t)
	for i := range 2 {
		w.die(t, fmt.Sprint("msg_", i), 0)
	}
	w.outcome(t, "msg_1")
	first := ask[operator.List[inspect.Delivery]](
		t, w.inspect.Function(), "deliveries", `"endpoint_id":"webhook_1","limit":1`)
	cursor := `,"cursor":"` + *first.NextCursor + `"`
	const another = `"endpoint_id":"webhook_1","tenant_id":"other"`
	const foreign = `"delivery_id":"msg_1","tenant_id":"other"`
	for name, row := range map[string]struct{ action, fields, code, field string }{
		"no filter":            {"dead_letters", ``, "invalid_field", "endpoint_id"},
		"no such status":       {"dead_letters", `"status":"gone"`, "invalid_field", "status"},
		"tenant of nothing":    {"dead_letters", `"status":"dead","tenant_id":"acme"`, "invalid_field", "tenant_id"},
		"another tenant":       {"dead_letters", another, "tenant_mismatch", "tenant_id"},
		"another list's":       {"dead_letters", `"endpoint_id":"webhook_1"` + cursor, "invalid_cursor", "cursor"},
		"another endpoint's":   {"deliveries", `"endpoint_id":"webhook_2"` + cursor, "invalid_cursor", "cursor"},
		"unknown delivery":     {"delivery", `"delivery_id":"msg_9"`, "not_found", "delivery_id"},
		"delivery of another":  {"delivery", foreign, "tenant_mismatch", "tenant_id"},
		"no delivery id":       {"delivery", ``, "invalid_field", "delivery_id"},
		"no endpoint":          {"deliveries", ``, "invalid_field", "endpoint_id"},
		"letter of another":    {"dead_letter", foreign, "tenant_mismatch", "tenant_id"},
		"a field of elsewhere": {"summary", `"delivery_id":"msg_1"`, "unknown_field", "delivery_id"},
		"limit":                {"rejected_events", `"limit":0`, "invalid_field", "limit"},
	} {
		var want refused
		want.Error.Code, want.Error.Field = row.code, row.field
		got := ask[refused](t, w.inspect.Function(), row.action, row.fields)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
