package jobs_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// startDiscard has a job discard acme's events.
var startDiscard = strings.Replace(startReplay, `"replay"`, `"discard","confirm":true`, 1)

// rejectAs has fanout reject events with these bodies.
func rejectAs(a *account, reason string, bodies ...string) {
	for _, body := range bodies {
		id := strconv.Itoa(a.RejectedQueue.Stored())
		a.Reject(rejected.Event{MessageID: id, EventID: "evt_" + id, Body: body, Reason: reason})
	}
}

// What a question counted is discarded, whether it would be rejected again or not, with a line for each event. Nothing
// else is: no other tenant's, no other reason's, and nothing that was sent after the question.
//
// Threat of an operator: has more rejected events discarded than were counted. Held by: a job ends at its question, and
// none starts without a tenant, an id, a reason or a beginning.
func TestHandler_workJobs_discardsWhatTheQuestionCounted(t *testing.T) {
	const invalid = `{"tenant_id":"acme"}`
	inLetters(t, 0, func(a *account) {
		rejectAs(a, "not_processed", good, invalid, strings.Replace(good, "acme", "other", 1))
		rejectAs(a, "invalid event: type", good)
		time.Sleep(time.Second)
		dry := ask[api.Survey](a, startDiscard+`,"reason":"not_processed","dry_run":true}`)
		want := api.Survey{Selected: 2, Ready: 2, Refused: map[string]int{}, Complete: true, Until: dry.Until}
		if diff := cmp.Diff(want, dry); diff != "" || a.RejectedQueue.Visible() != 4 || len(a.Jobs) > 0 {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
		time.Sleep(time.Second)
		rejectAs(a, "not_processed", good)
		a.Steps = nil
		until := `,"until":"` + dry.Until.Format(time.RFC3339Nano) + `"}`
		ask[api.Survey](a, startDiscard+`,"reason":"not_processed"`+until)
		done, _ := a.finish("t")
		if done.State != job.Done || done.Done != 2 || len(done.Refused) > 0 || a.RejectedQueue.Stored() != 3 {
			t.Errorf("%+v, %d are left", done.Progress, a.RejectedQueue.Stored())
		}
		lines := 0
		for _, step := range a.Steps {
			if strings.HasPrefix(step, "audit discard_rejected") {
				lines++
			}
		}
		if lines != 2 {
			t.Errorf("%d audit lines: %v", lines, a.Steps)
		}
	})
}

// Whatever call fails, and however, a job discards each event that it selects and no other, and ends.
func TestHandler_workJobs_discardsEachEventWhateverCallFails(t *testing.T) {
	for _, v := range model.Faults() {
		for n := 1; ; n++ {
			reached := false
			inLetters(t, 0, func(a *account) {
				rejectAs(a, "not_processed", good, good, strings.Replace(good, "acme", "other", 1))
				time.Sleep(time.Second)
				ask[api.Survey](a, startDiscard+`}`)
				time.Sleep(job.LooksOver)
				a.Fault(n, v)
				a.wake()
				reached = a.Heal(n)
				time.Sleep(time.Minute)
				if done, _ := a.finish("t"); done.State != job.Done || a.RejectedQueue.Stored() != 1 {
					t.Errorf("call %d is %s: %+v, %d are left", n, v, done.Progress, a.RejectedQueue.Stored())
				}
			})
			if !reached {
				break
			}
		}
	}
}

// A publish and a discard of the same events take turns. What one has done, the other does not meet.
func TestHandler_workJobs_discardsNothingThatWasPublished(t *testing.T) {
	inLetters(t, 0, func(a *account) {
		rejectAs(a, "not_processed", good, good)
		time.Sleep(time.Second)
		ask[api.Survey](a, startPublish+`}`)
		discard := strings.Replace(startDiscard, `"t"`, `"u"`, 1) + `}`
		if code := a.Refused(discard); code != "publishing " {
			t.Errorf("while the other works, a discard is answered %q", code)
		}
		if done, _ := a.finish("t"); done.Done != 2 {
			t.Errorf("published: %+v", done.Progress)
		}
		ask[api.Survey](a, discard)
		if code := a.Refused(strings.Replace(startPublish, `"t"`, `"v"`, 1) + `}`); code != "publishing " {
			t.Errorf("while a discard works, a publish is answered %q", code)
		}
		if done, _ := a.finish("u"); done.State != job.Done || done.Done != 0 {
			t.Errorf("discarded: %+v", done.Progress)
		}
	})
}
