package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestHandler_startJob_surveysAndStartsOnce(t *testing.T) {
	inLetters(t, 8, func(a *account) {
		for n, change := range []func(*deadletter.Record){
			func(r *deadletter.Record) { r.EndpointID = "webhook_deleted" },
			func(r *deadletter.Record) { r.EndpointID = "webhook_disabled" },
			func(r *deadletter.Record) { r.EndpointID = "webhook_narrowed" },
			func(r *deadletter.Record) { r.ReplayCount = deadletter.MaxReplays },
			func(r *deadletter.Record) {
				r.Ref, r.Reason = delivery.Ref{DeliveryID: r.DeliveryID}, delivery.ReasonUnreadable
			},
			func(r *deadletter.Record) { r.DiedAt = time.Now().Add(time.Second) },
		} {
			a.Change(a.Order[n], change)
		}
		refused := map[string]int{
			"endpoint_deleted": 1, "endpoint_disabled": 1, "unsubscribed": 1, "replay_limit": 1, "unreadable": 1,
		}
		request := strings.Replace(startReplay, `"tenant_id":"acme"`, `"status":"dead"`, 1)
		dry := ask[api.Survey](a, request+`,"dry_run":true}`)
		want := api.Survey{Selected: 7, Ready: 2, Refused: refused, Complete: true, Until: time.Now().UTC()}
		if diff := cmp.Diff(want, dry); diff != "" || len(a.Jobs) != 0 {
			t.Errorf("dry run, %d jobs (-want +got)\n%s", len(a.Jobs), diff)
		}
		first := ask[api.Survey](a, request+"}")
		time.Sleep(time.Second)
		again := ask[api.Survey](a, request+"}")
		if diff := cmp.Diff(first.Job, again.Job); diff != "" || len(a.Jobs) != 1 {
			t.Errorf("asked again, %d jobs (-first +again)\n%s", len(a.Jobs), diff)
		}
		ended := request + `,"until":"` + dry.Until.Format(time.RFC3339Nano) + `"}`
		for _, other := range []string{startReplay + "}", ended} {
			if got := a.Refused(other); got != "invalid_field token" {
				t.Errorf("%s under the token of another: %q", other, got)
			}
		}
		done, _ := a.finish("t")
		if diff := cmp.Diff(refused, done.Refused); diff != "" || done.Done != 2 || a.sent() != 2 {
			t.Errorf("%d done, %d sent (-want +got)\n%s", done.Done, a.sent(), diff)
		}
	})
}
