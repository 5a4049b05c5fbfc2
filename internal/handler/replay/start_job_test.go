package replay

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
)

func TestHandler_startJob_surveysAndStartsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 8)
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
			r := w.letters[w.order[n]]
			change(&r)
			w.letters[w.order[n]] = r
		}
		refused := map[string]int{
			"endpoint_deleted": 1, "endpoint_disabled": 1, "unsubscribed": 1, "replay_limit": 1, "unreadable": 1,
		}
		request := strings.Replace(startReplay, `"tenant_id":"acme"`, `"status":"dead"`, 1)
		dry := ask[Survey](t, w, request+`,"dry_run":true}`)
		want := Survey{Selected: 7, Ready: 2, Refused: refused, Complete: true, Until: time.Now().UTC()}
		if diff := cmp.Diff(want, dry); diff != "" || len(w.jobs) != 0 {
			t.Errorf("dry run, %d jobs (-want +got)\n%s", len(w.jobs), diff)
		}
		first := ask[Survey](t, w, request+"}")
		time.Sleep(time.Second)
		again := ask[Survey](t, w, request+"}")
		if diff := cmp.Diff(first.Job, again.Job); diff != "" || len(w.jobs) != 1 {
			t.Errorf("asked again, %d jobs (-first +again)\n%s", len(w.jobs), diff)
		}
		ended := request + `,"until":"` + dry.Until.Format(time.RFC3339Nano) + `"}`
		for _, other := range []string{startReplay + "}", ended} {
			if got := w.refused(t, other); got != "invalid_field token" {
				t.Errorf("%s under the token of another: %q", other, got)
			}
		}
		done, _ := w.finish(t, "t")
		if diff := cmp.Diff(refused, done.Refused); diff != "" || done.Done != 2 || w.sent() != 2 {
			t.Errorf("%d done, %d sent (-want +got)\n%s", done.Done, w.sent(), diff)
		}
	})
}

// Letters by the thousand do not read their endpoint again and again, least of all where it cannot be read.
func TestHandler_startJob_readsEachEndpointOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const some = 3 * chunk
		w := newStore(t, previewPage+1)
		for n, id := range w.order {
			r := w.letters[id]
			r.EndpointID = fmt.Sprint("webhook_", n%some)
			if n == 0 { // refused without its endpoint
				r.EndpointID, r.ReplayCount = "webhook_full", deadletter.MaxReplays
			}
			w.letters[id] = r
		}
		request := startReplay + `,"dry_run":true}`
		if got := ask[Survey](t, w, request); got.Selected != previewPage+1 || w.reads != some {
			t.Errorf("%d reads for %+v", w.reads, got)
		}
		w.reads, w.endpoints = 0, nil
		if _, err := w.handler().Function().Invoke(t.Context(), []byte(request)); err == nil || w.reads != chunk {
			t.Errorf("%d failing reads, %v", w.reads, err)
		}
	})
}
