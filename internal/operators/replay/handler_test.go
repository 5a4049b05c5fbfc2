package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// A request at fault changes nothing, and receives no event.
func TestHandler_namesTheFieldAtFault(t *testing.T) {
	const publish, discard = `rejected_events"`, `discard_rejected_events"`
	const start, span = `start_job","act":`, `"since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"`
	const published = `"published_since":"2026-01-02T00:00:00Z","published_until":"2026-01-01T00:00:00Z"`
	const erase, erased = `erase","tenant_id":`, `erase","tenant_id":"acme","confirm":"acme"`
	var dryRun api.Erased
	inAccount(t, func(a *account) {
		dryRun = ask[api.Erased](a, `{"operator":"ann","action":"`+erase+`"acme","dry_run":true}`)
	})
	for fields, field := range map[string]string{
		`deliveries","delivery_ids":[]`:                                           "delivery_ids",
		`purge","confirm":true,"delivery_ids":[]`:                                 "delivery_ids",
		`purge","delivery_ids":["msg_1"]`:                                         "confirm",
		`stop_job"`:                                                               "job_id",
		`stop_job","job_id":"job_9"`:                                              "job_id",
		publish:                                                                   "message_ids",
		publish + `,"message_ids":[]`:                                             "message_ids",
		discard + `,"message_ids":["1"]`:                                          "confirm",
		discard + `,"message_ids":["1"],"confirm":false`:                          "confirm",
		discard + `,"confirm":true`:                                               "message_ids",
		discard + `,"confirm":true,"message_ids":[]`:                              "message_ids",
		publish + `,"all":true`:                                                   "all",
		discard + `,"confirm":true,"all":true`:                                    "all",
		start + `"delete","tenant_id":"acme"`:                                     "act",
		start + `"purge","tenant_id":"acme"`:                                      "confirm",
		start + `"replay","tenant_id":"acme","status":"replayed"`:                 "status",
		start + `"replay","tenant_id":"acme","status":"gone"`:                     "status",
		start + `"publish","endpoint_id":"webhook_1"`:                             "endpoint_id",
		start + `"publish","status":"dead"`:                                       "status",
		start + `"discard","tenant_id":"acme"`:                                    "confirm",
		start + `"discard","confirm":true`:                                        "tenant_id",
		start + `"discard","dry_run":true,"until":"2026-01-02T00:00:00Z"`:         "tenant_id",
		start + `"discard","confirm":true,"reason":"x","endpoint_id":"webhook_1"`: "endpoint_id",
		start + `"replay","token":"` + strings.Repeat("x", 129) + `"`:             "token",
		start + `"replay","tenant_id":"acme",` + span:                             "until",
		start + `"replay","tenant_id":"acme","endpoint_id":"a.example"`:           "endpoint_id",
		start + `"replay","tenant":"acme"`:                                        "tenant",
		start + `"replay"`:                                                        "endpoint_id",
		start + `"replay","reason":"timeout"`:                                     "endpoint_id",
		start + `"purge","confirm":true`:                                          "endpoint_id",
		start + `"publish",` + span:                                               "until",
		start + `"publish","published_since":"2026-01-02T00:00:00Z"`:              "published_since",
		start + `"publish","published_until":"2026-01-02T00:00:00Z"`:              "published_until",
		start + `"purge","event_id":"evt_1","confirm":true`:                       "endpoint_id",
		start + `"replay","status":"dead",` + published:                           "published_until",
		start + `"publish","since":"2099-01-01T00:00:00Z"`:                        "since",
		erase + `"acme"`:                                                          "confirm",
		erase + `"acme","confirm":"Acme"`:                                         "confirm",
		erase + `"acme","confirm":true`:                                           "confirm",
		`erase","confirm":"acme"`:                                                 "tenant_id",
		erased + `,"reason":"\n"`:                                                 "reason",
		erased + `,"limit":1`:                                                     "limit",
		erased + `,"endpoint_id":"webhook_1"`:                                     "endpoint_id",
		erased + `,"cursor":"` + *dryRun.NextCursor + `"`:                         "cursor",
		erase + `"acme","dry_run":true,"cursor":"bm90IGEgY3Vyc29yIGF0IGFsbA"`:     "cursor",
	} {
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, nil))
			a.Reject(rejected.Event{MessageID: "1", EventID: "evt_1", Body: "{}"})
			got := a.Refused(`{"operator":"ann","action":"` + fields + `}`)
			if !strings.HasSuffix(got, " "+field) || len(a.Steps)+len(a.Jobs) > 0 || a.RejectedQueue.Visible() != 1 {
				t.Errorf("%s is refused with %q, want field %s; did %v", fields, got, field, a.Steps)
			}
		})
	}
}

func TestHandler_Function_startsNothingThatTimeDoesNotReach(t *testing.T) {
	id, notStarted := `"`+deliveryID+`"`, `"delivery_id":"`+deliveryID+`","result":"not_started"`
	for request, want := range map[string]string{
		`{"action":"deliveries","operator":"ann","delivery_ids":[` + id + `]}`:           notStarted,
		`{"action":"purge","operator":"ann","delivery_ids":[` + id + `],"confirm":true}`: notStarted,
		`{"action":"rejected_events","operator":"ann","message_ids":["7"]}`: `"message_id":"7",` +
			`"event_id":"","result":"not_started"`,
	} {
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, nil))
			got, err := a.Within(invoke.Reserve-time.Second, request)
			if !strings.Contains(got, want) || err != nil || len(a.Steps) > 0 {
				t.Errorf("%s: %s, %v, and %v", request, got, err, a.Steps)
			}
		})
	}
}

func TestHandler_leavesAnotherTenantsDeadLetters(t *testing.T) {
	for _, fields := range []string{`deliveries"`, `purge","confirm":true`} {
		inAccount(t, func(a *account) {
			a.Put(deadLetter(t, nil))
			request := `{"operator":"ann","tenant_id":"other","delivery_ids":["` + deliveryID + `"],"action":"` + fields + "}"
			got := ask[api.DeliveryResults](a, request).Data
			want := []api.DeliveryResult{{DeliveryID: deliveryID, Result: "refused", Reason: "tenant_mismatch"}}
			if diff := cmp.Diff(want, got); diff != "" || len(a.Steps) > 0 {
				t.Errorf("%s did %v (-want +got):\n%s", fields, a.Steps, diff)
			}
		})
	}
}

func TestHandler_purge_isForGood(t *testing.T) {
	inAccount(t, func(a *account) {
		l := deadLetter(t, nil)
		a.Put(l)
		a.States[deliveryID] = delivery.Record{Ref: l.Ref, State: delivery.Dead, Attempts: l.Attempts}
		request := fmt.Sprintf(`{"action":"purge","operator":"ann","delivery_ids":["%s","msg_2","%[1]s"],"confirm":true}`,
			deliveryID)
		for _, result := range []api.Result{"purged", "not_found"} {
			got := ask[api.DeliveryResults](a, request).Data
			want := []api.DeliveryResult{{DeliveryID: deliveryID, Result: result}, {DeliveryID: "msg_2", Result: "not_found"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		steps := []string{
			"audit purge " + deliveryID + " by ann", "Write DeadLetters " + deliveryID, "Write Deliveries " + deliveryID,
		}
		if diff := cmp.Diff(steps, a.Steps); diff != "" || a.States[deliveryID].State != delivery.Purged {
			t.Errorf("the delivery is %s, steps (-want +got):\n%s", a.States[deliveryID].State, diff)
		}
	})
}

func TestHandler_acts_sayHowEachActIsDone(t *testing.T) {
	acts := (&Handler{}).acts()
	for _, name := range job.Acts() {
		how := acts[name]
		onEvents, onLetters := how.Events != nil, how.Letters != nil
		if onEvents != name.OnEvents() || onLetters == onEvents {
			t.Errorf("%s: done to events %t, to letters %t", name, onEvents, onLetters)
		}
	}
	if len(acts) != len(job.Acts()) {
		t.Errorf("%d acts are done, there are %d", len(acts), len(job.Acts()))
	}
}
