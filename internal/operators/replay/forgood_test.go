package replay

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// deletes has requests for each action, and whether they delete for good.
var deletes = map[string]bool{
	`{"action":"deliveries","operator":"ann","delivery_ids":["msg_1"]}`:                                   false,
	`{"action":"rejected_events","operator":"ann","message_ids":["m1"]}`:                                  false,
	`{"action":"discard_rejected_events","operator":"ann","message_ids":["m1"],"confirm":true}`:           true,
	`{"action":"purge","operator":"ann","delivery_ids":["` + deliveryID + `"],"confirm":true}`:            true,
	`{"action":"erase","operator":"ann","tenant_id":"acme","confirm":"acme"}`:                             true,
	`{"action":"erase","operator":"ann","tenant_id":"acme","dry_run":true}`:                               false,
	`{"action":"start_job","operator":"ann","act":"purge","tenant_id":"acme","token":"t","confirm":true}`: true,
	`{"action":"start_job","operator":"ann","act":"purge","tenant_id":"acme","token":"t","dry_run":true}`: false,
	`{"action":"start_job","operator":"ann","act":"replay","tenant_id":"acme","token":"t"}`:               false,
	`{"action":"start_job","operator":"ann","act":"publish","tenant_id":"acme","token":"t"}`:              false,
	`{"action":"start_job","operator":"ann","act":"discard","tenant_id":"acme","confirm":true}`:           true,
	`{"action":"start_job","operator":"ann","act":"discard","tenant_id":"acme","dry_run":true}`:           false,
	`{"action":"stop_job","operator":"ann","job_id":"job_purges"}`:                                        false,
	`{"action":"resume_job","operator":"ann","job_id":"job_purged"}`:                                      true,
	`{"action":"resume_job","operator":"ann","job_id":"job_replays"}`:                                     false,
	`{"action":"work_jobs","operator":"release"}`:                                                         false,
}

// A role that may invoke the function, as release and operators may, deletes nothing for good: that takes the right to
// invoke the alias.
//
// Threat of an operator: deletes for good without the right. Held by: the alias `delete` alone does (`Deleters`).
func TestHandler_deletesForGoodOnlyByItsAlias(t *testing.T) {
	var tried []string
	for request, forGood := range deletes {
		action, _, _ := strings.Cut(strings.TrimPrefix(request, `{"action":"`), `"`)
		tried = append(tried, action)
		for _, behind := range []string{
			"", ":live", ":$LATEST", ":7", ":Delete", ":deletes", ":delete:delete", "-delete", "none", ":delete",
		} {
			inAccount(t, func(a *account) {
				a.Put(deadLetter(t, nil))
				a.Reject(rejected.Event{MessageID: "m1", Body: good})
				a.Start(job.Job{ID: "job_purges", Act: job.Purge, State: job.Running})
				a.Start(job.Job{ID: "job_purged", Act: job.Purge, State: job.Stopped})
				a.Start(job.Job{ID: "job_replays", Act: job.Replay, State: job.Stopped})
				before := maps.Clone(a.Jobs)
				ctx := operatortest.Named(a.Context(), behind)
				if behind == "none" {
					ctx = context.WithoutCancel(a.Context()) // no Lambda
				}
				out, err := a.handler(a.Process("replay")).Function().Invoke(ctx, []byte(request))
				refused := err == nil && testkit.Refusal(t, string(out)) == "alias_required action"
				if refused != (forGood && behind != ":"+invoke.ForGood) {
					t.Errorf("%s to replay%s: %s, %v", request, behind, out, err)
				}
				if refused && (len(a.Steps) > 0 || a.Letters[deliveryID].Status != deadletter.Dead ||
					!cmp.Equal(before, a.Jobs) || a.RejectedQueue.Stored() != 1) {
					t.Errorf("%s to replay%s was refused, and did %v", request, behind, a.Steps)
				}
			})
		}
	}
	slices.Sort(tried)
	there := slices.Sorted(maps.Keys((&Handler{}).Function().Actions))
	if diff := cmp.Diff(there, slices.Compact(tried)); diff != "" {
		t.Errorf("actions tried (-there are +tried):\n%s", diff)
	}
}
