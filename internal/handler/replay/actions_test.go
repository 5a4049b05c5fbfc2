package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// results are those of dead letters, all alike.
func results(ids []string, result string) (all []Result) {
	for _, id := range ids {
		all = append(all, Result{DeliveryID: id, Result: result})
	}
	return all
}

const endpoint1 = `{"action":"endpoint","operator":"ann","endpoint_id":"webhook_1"`

func TestHandler_endpoint_replaysPageByPageOldestFirst(t *testing.T) {
	w := newWorld(deaths(t, 25)...)
	dry := ask[operator.List[Result]](t, w, endpoint1+`,"dry_run":true,"limit":100}`)
	want := operator.List[Result]{Data: results(w.order, "would_replay")}
	if diff := cmp.Diff(want, dry); diff != "" || len(w.steps) > 0 {
		t.Errorf("dry run, did %v (-want +got):\n%s", w.steps, diff)
	}
	var got []Result
	for cursor, more := "", true; more; {
		page := ask[operator.List[Result]](t, w, endpoint1+`,"limit":10`+cursor+"}")
		got = append(got, page.Data...)
		if more = page.NextCursor != nil; more {
			cursor = `,"cursor":"` + *page.NextCursor + `"`
		}
	}
	if diff := cmp.Diff(results(w.order, "replayed"), got); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
}

// A request at fault changes nothing, and receives no event.
func TestHandler_namesTheFieldAtFault(t *testing.T) {
	const one, publish, discard = `endpoint","endpoint_id":"webhook_1"`, `rejected_events"`, `discard_rejected_events"`
	const start, span = `start_job","act":`, `"since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"`
	const erase, erased = `erase","tenant_id":`, `erase","tenant_id":"acme","confirm":"acme"`
	dryRun := ask[Erased](t, newWorld(), `{"operator":"ann","action":"`+erase+`"acme","dry_run":true}`)
	for fields, field := range map[string]string{
		`endpoint"`:                                                           "endpoint_id",
		`endpoint","endpoint_id":"a.example"`:                                 "endpoint_id", // no host
		one + `,"tenant_id":"other"`:                                          "tenant_id",
		one + `,"cursor":"AAAAAAAAAAAAAAAAAAAA"`:                              "cursor",
		one + `,"limit":0`:                                                    "limit",
		`deliveries","delivery_ids":[]`:                                       "delivery_ids",
		`purge","confirm":true,"delivery_ids":[]`:                             "delivery_ids",
		`purge","delivery_ids":["msg_1"]`:                                     "confirm",
		`stop_job"`:                                                           "job_id",
		`stop_job","job_id":"job_9"`:                                          "job_id",
		publish:                                                               "message_ids",
		publish + `,"message_ids":[]`:                                         "message_ids",
		publish + `,"all":true,"message_ids":["1"]`:                           "message_ids",
		discard + `,"message_ids":["1"]`:                                      "confirm",
		discard + `,"message_ids":["1"],"confirm":false`:                      "confirm",
		discard + `,"confirm":true`:                                           "message_ids",
		discard + `,"confirm":true,"message_ids":[]`:                          "message_ids",
		discard + `,"confirm":true,"all":true`:                                "all",
		start + `"delete","tenant_id":"acme"`:                                 "act",
		start + `"purge","tenant_id":"acme"`:                                  "confirm",
		start + `"replay","tenant_id":"acme","status":"replayed"`:             "status",
		start + `"replay","tenant_id":"acme","status":"gone"`:                 "status",
		start + `"publish","endpoint_id":"webhook_1"`:                         "endpoint_id",
		start + `"publish","status":"dead"`:                                   "status",
		start + `"replay","token":"` + strings.Repeat("x", 129) + `"`:         "token",
		start + `"replay","tenant_id":"acme",` + span:                         "until",
		start + `"replay","tenant_id":"acme","endpoint_id":"a.example"`:       "endpoint_id",
		start + `"replay","tenant":"acme"`:                                    "tenant",
		start + `"replay"`:                                                    "endpoint_id",
		start + `"replay","reason":"timeout"`:                                 "endpoint_id",
		start + `"purge","confirm":true`:                                      "endpoint_id",
		start + `"publish",` + span:                                           "until",
		start + `"publish","since":"2099-01-01T00:00:00Z"`:                    "since",
		erase + `"acme"`:                                                      "confirm",
		erase + `"acme","confirm":"Acme"`:                                     "confirm",
		erase + `"acme","confirm":true`:                                       "confirm",
		`erase","confirm":"acme"`:                                             "tenant_id",
		erased + `,"reason":"\n"`:                                             "reason",
		erased + `,"limit":1`:                                                 "limit",
		erased + `,"endpoint_id":"webhook_1"`:                                 "endpoint_id",
		erased + `,"cursor":"` + *dryRun.NextCursor + `"`:                     "cursor",
		erase + `"acme","dry_run":true,"cursor":"bm90IGEgY3Vyc29yIGF0IGFsbA"`: "cursor",
	} {
		w := newWorld(letter(t, nil))
		w.rejected = []rejected.Event{{MessageID: "1", EventID: "evt_1", Body: "{}"}}
		got := w.refused(t, `{"operator":"ann","action":"`+fields+`}`)
		if !strings.HasSuffix(got, " "+field) || len(w.steps)+len(w.jobs) > 0 || len(w.rejected) != 1 {
			t.Errorf("%s is refused with %q, want field %s; did %v", fields, got, field, w.steps)
		}
	}
}

// The cursor of an unfinished first page asks for that page again.
func TestHandler_Function_startsNothingThatTimeDoesNotReach(t *testing.T) {
	w := newWorld(letter(t, nil))
	ctx, cancel := context.WithTimeout(t.Context(), reserve-time.Second)
	defer cancel()
	id, notStarted := `"`+deliveryID+`"`, `"delivery_id":"`+deliveryID+`","result":"not_started"`
	for request, want := range map[string]string{
		`{"action":"deliveries","operator":"ann","delivery_ids":[` + id + `]}`:           notStarted,
		`{"action":"purge","operator":"ann","delivery_ids":[` + id + `],"confirm":true}`: notStarted,
		`{"action":"rejected_events","operator":"ann","message_ids":["7"]}`: `"message_id":"7",` +
			`"event_id":"","result":"not_started"`,
		endpoint1 + "}": notStarted,
	} {
		if got := w.invoke(ctx, t, request); !strings.Contains(got, want) || len(w.steps) > 0 {
			t.Errorf("%s: %s, and %v", request, got, w.steps)
		}
	}
	page := testkit.Read[operator.List[Result]](t, w.invoke(ctx, t, endpoint1+"}"))
	page = ask[operator.List[Result]](t, w, endpoint1+`,"cursor":"`+*page.NextCursor+`"}`)
	if diff := cmp.Diff(operator.List[Result]{Data: results(w.order, "replayed")}, page); diff != "" {
		t.Errorf("the same page again (-want +got):\n%s", diff)
	}
}

func TestHandler_leavesAnotherTenantsDeadLetters(t *testing.T) {
	for _, fields := range []string{`deliveries"`, `purge","confirm":true`} {
		w := newWorld(letter(t, nil))
		request := `{"operator":"ann","tenant_id":"other","delivery_ids":["` + deliveryID + `"],"action":"` + fields + "}"
		got := ask[Results](t, w, request).Data
		if diff := cmp.Diff([]Result{{deliveryID, "refused", "tenant_mismatch"}}, got); diff != "" || len(w.steps) > 0 {
			t.Errorf("%s did %v (-want +got):\n%s", fields, w.steps, diff)
		}
	}
}

func TestHandler_purge_isForGood(t *testing.T) {
	w := newWorld(letter(t, nil))
	request := fmt.Sprintf(`{"action":"purge","operator":"ann","delivery_ids":["%s","msg_2","%[1]s"],"confirm":true}`,
		deliveryID)
	for _, want := range []string{"purged", "not_found"} {
		got := ask[Results](t, w, request).Data
		if diff := cmp.Diff([]Result{{deliveryID, want, ""}, {"msg_2", "not_found", ""}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	steps := []string{
		"audit purge " + deliveryID + " by ann", "purge " + deliveryID, "write " + deliveryID + " " + string(delivery.Purged),
	}
	if diff := cmp.Diff(steps, w.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
