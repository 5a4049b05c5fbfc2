package replay

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// deletes has requests for each action, and whether they delete for good.
var deletes = map[string]bool{
	`{"action":"deliveries","operator":"ann","delivery_ids":["msg_1"]}`:                                   false,
	`{"action":"endpoint","operator":"ann","endpoint_id":"webhook_1"}`:                                    false,
	`{"action":"rejected_events","operator":"ann","message_ids":["m1"]}`:                                  false,
	`{"action":"discard_rejected_events","operator":"ann","message_ids":["m1"],"confirm":true}`:           true,
	`{"action":"purge","operator":"ann","delivery_ids":["` + deliveryID + `"],"confirm":true}`:            true,
	`{"action":"erase","operator":"ann","tenant_id":"acme","confirm":"acme"}`:                             true,
	`{"action":"erase","operator":"ann","tenant_id":"acme","dry_run":true}`:                               false,
	`{"action":"start_job","operator":"ann","act":"purge","tenant_id":"acme","token":"t","confirm":true}`: true,
	`{"action":"start_job","operator":"ann","act":"purge","tenant_id":"acme","token":"t","dry_run":true}`: false,
	`{"action":"start_job","operator":"ann","act":"replay","tenant_id":"acme","token":"t"}`:               false,
	`{"action":"start_job","operator":"ann","act":"publish","tenant_id":"acme","token":"t"}`:              false,
	`{"action":"stop_job","operator":"ann","job_id":"job_purges"}`:                                        false,
	`{"action":"resume_job","operator":"ann","job_id":"job_purged"}`:                                      true,
	`{"action":"resume_job","operator":"ann","job_id":"job_replays"}`:                                     false,
	`{"action":"work_jobs","operator":"release"}`:                                                         false,
}

// A role that may invoke the function, as release and operators may, deletes nothing for good: that takes the right to
// invoke the alias.
func TestHandler_deletesForGoodOnlyByItsAlias(t *testing.T) {
	var tried []string
	for request, forGood := range deletes {
		action, _, _ := strings.Cut(strings.TrimPrefix(request, `{"action":"`), `"`)
		tried = append(tried, action)
		for _, behind := range []string{
			"", ":live", ":$LATEST", ":7", ":Delete", ":deletes", ":delete:delete", "-delete", "none", ":delete",
		} {
			w := newWorld(deadLetter(t, nil))
			w.rejected = []rejected.Event{{MessageID: "m1", Body: good}}
			w.jobs["job_purges"] = job.Job{ID: "job_purges", Act: job.Purge, State: job.Running}
			w.jobs["job_purged"] = job.Job{ID: "job_purged", Act: job.Purge, State: job.Stopped}
			w.jobs["job_replays"] = job.Job{ID: "job_replays", Act: job.Replay, State: job.Stopped}
			before := maps.Clone(w.jobs)
			ctx := named(t.Context(), behind)
			if behind == "none" {
				ctx = context.WithoutCancel(t.Context()) // no Lambda
			}
			out, err := w.handler().Function().Invoke(ctx, []byte(request))
			if err != nil {
				t.Fatal(err)
			}
			refused := testkit.Refusal(t, string(out)) == "alias_required action"
			if refused != (forGood && behind != ":"+ForGood) {
				t.Errorf("%s to replay%s: %s", request, behind, out)
			}
			if refused && (len(w.steps) > 0 || w.letters[deliveryID].Status != deadletter.Dead || !maps.EqualFunc(before, w.jobs,
				func(a, b job.Job) bool { return a.State == b.State })) {
				t.Errorf("%s to replay%s was refused, and did %v", request, behind, w.steps)
			}
		}
	}
	slices.Sort(tried)
	there := slices.Sorted(maps.Keys(newWorld().handler().Function().Actions))
	if diff := cmp.Diff(there, slices.Compact(tried)); diff != "" {
		t.Errorf("actions tried (-there are +tried):\n%s", diff)
	}
}
