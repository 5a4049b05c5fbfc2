//go:build emulator

package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// results are those of the first n events, all alike.
func results(n int, result string) []replay.Result {
	all := make([]replay.Result, n)
	for i := range all {
		all[i] = replay.Result{DeliveryID: idOf(fmt.Sprint("event_", i)), Result: result}
	}
	return all
}

func TestHandler_endpoint_replaysPageByPageOldestFirst(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.die(t, fmt.Sprint("event_", i), 0)
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
	w.die(t, "event_1", 0)
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

// The cursor of an unfinished first page asks for that page again.
func TestHandler_Function_startsNothingThatTimeDoesNotReach(t *testing.T) {
	w := newWorld(t)
	w.die(t, "event_0", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // less than is kept back
	defer cancel()
	notStarted, ids := results(1, "not_started"), `"delivery_ids":["`+idOf("event_0")+`"]`
	for action, fields := range map[string]string{"deliveries": ids, "purge": ids + `,"confirm":true`} {
		got := askWithin[replay.Results](ctx, t, w.replay.Function(), action, fields)
		if diff := cmp.Diff(replay.Results{Data: notStarted}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", action, diff)
		}
	}
	swept := askWithin[replay.RejectedResults](ctx, t, w.replay.Function(), "rejected_events", `"message_ids":["7"]`)
	want := replay.RejectedResults{Data: []replay.RejectedResult{{MessageID: "7", Result: "not_started"}}}
	if diff := cmp.Diff(want, swept); diff != "" {
		t.Errorf("rejected events (-want +got):\n%s", diff)
	}
	fields := `"endpoint_id":"webhook_1"`
	page := askWithin[operator.List[replay.Result]](ctx, t, w.replay.Function(), "endpoint", fields)
	if diff := cmp.Diff(notStarted, page.Data); diff != "" || page.NextCursor == nil {
		t.Fatalf("want a cursor and (-want +got):\n%s", diff)
	}
	fields += `,"cursor":"` + *page.NextCursor + `"`
	page = ask[operator.List[replay.Result]](t, w.replay.Function(), "endpoint", fields)
	if diff := cmp.Diff(operator.List[replay.Result]{Data: results(1, "replayed")}, page); diff != "" {
		t.Errorf("the same page again (-want +got):\n%s", diff)
	}
}

func TestHandler_purge_needsConfirmation(t *testing.T) {
	w := newWorld(t)
	w.die(t, "event_1", 0)
	id := idOf("event_1")
	if got := ask[refused](t, w.replay.Function(), "purge", `"delivery_ids":["`+id+`"]`); got.Error.Field != "confirm" {
		t.Errorf("without confirm: %+v, want it named", got)
	}
	if got := w.status(t); got != vault.Dead {
		t.Errorf("it is %s", got)
	}
	confirmed := `"delivery_ids":["` + id + `","msg_2","` + id + `"],"confirm":true`
	for _, want := range []string{"purged", "not_found"} {
		got := ask[replay.Results](t, w.replay.Function(), "purge", confirmed)
		results := replay.Results{Data: []replay.Result{
			{DeliveryID: id, Result: want}, {DeliveryID: "msg_2", Result: "not_found"},
		}}
		if diff := cmp.Diff(results, got); diff != "" {
			t.Errorf("purged (-want +got):\n%s", diff)
		}
	}
	shown := ask[inspect.Delivery](t, w.inspect.Function(), "delivery", `"delivery_id":"`+id+`"`)
	if shown.State != delivery.Purged || shown.Reason != delivery.ReasonHTTP5xx {
		t.Errorf("its delivery is shown as %s of %s", shown.State, shown.Reason)
	}
	late := delivery.Record{Ref: w.message("event_1", 0).Ref, State: delivery.Retrying, Attempts: 10, UpdatedAt: w.clock()}
	if written, err := w.states.Update(t.Context(), late); written || err != nil {
		t.Errorf("a late duplicate took it back: %v", err)
	}
}

// A job on real tables and queues: it finds what died, sends it to RetryQueue, and knows what became of it.
func TestAJobEndToEnd(t *testing.T) {
	const letters = 30
	w := newWorld(t)
	for n := range letters {
		w.die(t, fmt.Sprint("event_", n), 0)
	}
	w.pass(time.Minute)
	survey := ask[replay.Survey](t, w.replay.Function(), "start_job", `"act":"replay","tenant_id":"acme","token":"t"`)
	if survey.Selected != letters || survey.Ready != letters || survey.Job == nil {
		t.Fatalf("%+v", survey)
	}
	ask[replay.Worked](t, w.replay.Function(), "work_jobs", "")
	id := `"job_id":"` + survey.Job.JobID + `"`
	if got := ask[operator.Job](t, w.inspect.Function(), "job", id); got.State != job.Done || got.Done != letters {
		t.Errorf("%+v", got)
	}
	got := 0
	for messages := testkit.Receive(t, w.cfg, w.retries, 0); len(messages) > 0; {
		got += len(messages)
		messages = testkit.Receive(t, w.cfg, w.retries, 0)
	}
	if got != letters {
		t.Errorf("%d messages are on RetryQueue", got)
	}
	w.die(t, "event_0", 1)
	acknowledged := delivery.Record{Ref: w.message("event_1", 1).Ref, UpdatedAt: w.clock()}
	if err := w.states.Acknowledge(t.Context(), []delivery.Record{acknowledged}); err != nil {
		t.Fatal(err)
	}
	want := inspect.JobOutcome{Sent: letters, Delivered: 1, DeadAgain: 1, UnderWay: letters - 2}
	if diff := cmp.Diff(want, ask[inspect.JobOutcome](t, w.inspect.Function(), "job_outcome", id)); diff != "" {
		t.Errorf("outcome (-want +got)\n%s", diff)
	}
}
