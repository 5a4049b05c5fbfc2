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
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// startPublish has a job publish acme's events.
var startPublish = strings.Replace(startReplay, "replay", "publish", 1)

// eventsOf are rejected events of these tenants.
func eventsOf(n int, tenant func(n int) string) []rejected.Event {
	all := make([]rejected.Event, n)
	for i := range all {
		all[i] = rejected.Event{
			MessageID: strconv.Itoa(i), EventID: "evt_" + strconv.Itoa(i), Body: `{"tenant_id":"` + tenant(i) + `"}`,
			Reason: "not_processed",
		}
	}
	return all
}

func TestHandler_workJobs_publishesRejectedEvents(t *testing.T) {
	inLetters(t, 0, func(a *account) {
		for n, body := range []string{good, strings.Replace(good, "acme", "other", 1), `{"tenant_id":"acme"}`, good} {
			a.Reject(rejected.Event{
				MessageID: strconv.Itoa(n), EventID: "evt_" + strconv.Itoa(n), Body: body, Reason: "not_processed",
			})
		}
		time.Sleep(time.Second) // the selection ends with the start of the job
		survey := ask[api.Survey](a, startPublish+`,"reason":"processed"}`)
		survey.Job, survey.Until = nil, time.Time{}
		want := api.Survey{Selected: 3, Ready: 2, Refused: map[string]int{"invalid_event": 1}, Complete: true}
		if diff := cmp.Diff(want, survey); diff != "" || a.RejectedQueue.Visible() != 4 {
			t.Errorf("%d returned (-want +got)\n%s", a.RejectedQueue.Visible(), diff)
		}
		time.Sleep(job.LooksOver)
		a.wake()
		done := a.Token("t")
		if done.State != job.Done || done.Done != 2 || done.Refused["invalid_event"] != 1 || a.RejectedQueue.Visible() != 2 {
			t.Errorf("%+v, %d are returned", done, a.RejectedQueue.Visible())
		}
		failures := []job.Failure{{ID: "2", Refused: true, Reason: "invalid event: type: is required"}}
		if diff := cmp.Diff(failures, done.Pages[1].Failures); diff != "" {
			t.Errorf("failures (-want +got)\n%s", diff)
		}
	})
}

// More events than the rate allows in an invocation stay on the queue, and still the job ends.
func TestHandler_workJobs_passesRefusedEventsAtOnce(t *testing.T) {
	inLetters(t, 0, func(a *account) {
		a.Reject(eventsOf(3000, func(int) string { return "acme" })...)
		time.Sleep(time.Second)
		ask[api.Survey](a, startPublish+`,"reason":"processed"}`)
		time.Sleep(job.LooksOver)
		a.wake()
		if done := a.Token("t"); done.State != job.Done || done.Refused["invalid_event"] != 3000 {
			t.Errorf("%+v", done.Progress)
		}
	})
}

// A queue that no invocation passes in one go is passed by several: each goes on behind the last, and the end is met.
// A second job waits until then: the events that one passes are hidden from the others until all of it is back. It was
// started while the first one was stopped.
func TestHandler_workJobs_publishesForOneJobAtATimeAndGoesOn(t *testing.T) {
	inLetters(t, 0, func(a *account) {
		a.Reject(eventsOf(10_000, func(n int) string { return []string{"acme", "other"}[n%2] })...)
		time.Sleep(time.Second)
		ask[api.Survey](a, startPublish+`}`)
		second := strings.NewReplacer(`"t"`, `"u"`, "acme", "other").Replace(startPublish) + `}`
		if code := a.Refused(second); code != "publishing " {
			t.Errorf("the second is answered %q", code)
		}
		change := `_job","operator":"ann","job_id":"` + job.ID("t") + `"}`
		a.Ask(`{"action":"stop` + change)
		ask[api.Survey](a, second)
		a.Ask(`{"action":"resume` + change)
		a.Verdict = func(c *model.Call) model.Verdict {
			if strings.HasPrefix(c.Name, "Receive ") {
				time.Sleep(100 * time.Millisecond)
			}
			return model.Done
		}
		time.Sleep(job.LooksOver)
		first, minutes := a.finish("t")
		if first.Refused["invalid_event"] != 5000 || first.Pages != 3 || minutes != 3 || a.Token("u").Progress.Pages != 0 {
			t.Errorf("after %d minutes: %+v, the other %+v", minutes, first.Progress, a.Token("u").Progress)
		}
		if returned := a.RejectedQueue.Visible(); returned == 0 || returned > 4000 {
			t.Errorf("%d events are returned at once, want those of the last invocation", returned)
		}
		later, _ := a.finish("u")
		waited := later.HiddenSince.Sub(first.UpdatedAt)
		if later.Refused["invalid_event"] != 5000 || waited < job.HideFor {
			t.Errorf("begun after %s: %+v", waited, later.Progress)
		}
	})
}

// Whatever call fails, and however, a job publishes each event, and ends. Its count may lack those that a worker had
// published before it died.
func TestHandler_workJobs_publishesEachEventWhateverCallFails(t *testing.T) {
	const events = 3
	for _, v := range model.Faults() {
		for n := 1; ; n++ {
			reached := false
			inLetters(t, 0, func(a *account) {
				for i := range events {
					id := strconv.Itoa(i)
					a.Reject(rejected.Event{MessageID: id, EventID: "evt_" + id, Body: good, Reason: "not_processed"})
				}
				time.Sleep(time.Second)
				ask[api.Survey](a, startPublish+`}`)
				time.Sleep(job.LooksOver)
				a.Fault(n, v)
				a.wake()
				reached = a.Heal(n)
				time.Sleep(time.Minute)
				done, _ := a.finish("t")
				sent, published := operatortest.Bodies(a.EventsQueue), map[string]bool{}
				for _, b := range sent {
					published[b] = true
				}
				if done.State != job.Done || len(published) != events || a.RejectedQueue.Stored() > len(sent) {
					t.Errorf("call %d is %s: %+v, published %d of %d, %d are left", n, v, done.Progress, len(published), events,
						a.RejectedQueue.Stored())
				}
			})
			if !reached {
				break
			}
		}
	}
}
