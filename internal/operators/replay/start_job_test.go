package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/model"
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
			a.change(a.order[n], change)
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
			if got := a.refused(other); got != "invalid_field token" {
				t.Errorf("%s under the token of another: %q", other, got)
			}
		}
		done, _ := a.finish("t")
		if diff := cmp.Diff(refused, done.Refused); diff != "" || done.Done != 2 || a.sent() != 2 {
			t.Errorf("%d done, %d sent (-want +got)\n%s", done.Done, a.sent(), diff)
		}
	})
}

// Letters by the thousand do not read their endpoint again and again, least of all where it cannot be read.
func TestHandler_startJob_readsEachEndpointOnce(t *testing.T) {
	inLetters(t, previewPage+1, func(a *account) {
		const some = 3 * chunk
		for n, id := range a.order {
			a.change(id, func(r *deadletter.Record) {
				r.EndpointID = fmt.Sprint("webhook_", n%some)
				if n == 0 { // refused without its endpoint
					r.EndpointID, r.ReplayCount = "webhook_full", deadletter.MaxReplays
				}
			})
		}
		request := startReplay + `,"dry_run":true}`
		if got := ask[api.Survey](a, request); got.Selected != previewPage+1 || a.calls["Read Endpoints"] != some {
			t.Errorf("%d reads for %+v", a.calls["Read Endpoints"], got)
		}
		a.calls["Read Endpoints"] = 0
		a.verdict = func(c *model.Call) model.Verdict {
			if c.Name == "Read Endpoints" {
				return model.Refused
			}
			return model.Done
		}
		if _, err := a.within(timeout, request); err == nil || a.calls["Read Endpoints"] != chunk {
			t.Errorf("%d failing reads, %v", a.calls["Read Endpoints"], err)
		}
	})
}
