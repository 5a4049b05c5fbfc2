package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/rejected"
)

const startReplay = `{"action":"start_job","operator":"ann","act":"replay","tenant_id":"acme","token":"t"`

// wake is release's: replay is invoked, and ended at its timeout.
func (w *world) wake(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	_, err := w.handler().Function().Invoke(ctx, []byte(`{"action":"work_jobs","operator":"release"}`))
	if err != nil && w.last == 0 {
		t.Fatal(err)
	}
}

// finish wakes replay each minute until the job of a token is done, and returns it.
func (w *world) finish(t *testing.T, token string) (done job.Job, minutes int) {
	t.Helper()
	for minutes = 1; minutes < 300; minutes++ {
		w.wake(t)
		time.Sleep(time.Minute)
		if j := w.jobs[job.ID(token)]; j.State != job.Running {
			return j, minutes
		}
	}
	t.Fatal("the job does not end")
	return done, 0
}

func (w *world) wantAllSent(t *testing.T, when string, done job.Job) {
	t.Helper()
	if done.State != job.Done || done.Done != len(w.order) || job.Total(done.Refused)+job.Total(done.Failed) != 0 {
		t.Errorf("%s: %+v", when, done.Progress)
	}
	paged := 0
	for _, p := range w.pages {
		paged += len(p.Done) + len(p.Failures)
	}
	if w.sent() != len(w.order) || paged != len(w.order) {
		t.Errorf("%s: %d of %d are sent, %d on pages", when, w.sent(), len(w.order), paged)
	}
}

// A process that dies at any of its calls, performed or not, is followed by one that finishes the job with exact
// counts.
func TestHandler_workJobs_survivesAProcessThatDiesAnywhere(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for last := 1; ; last++ {
			reached := false
			synctest.Test(t, func(t *testing.T) {
				w := newStore(t, 3)
				started := ask[Survey](t, w, startReplay+"}")
				if started.Selected != 3 || started.Job == nil {
					t.Fatalf("started %+v", started)
				}
				w.last, w.lost = last, lost
				w.wake(t)
				reached = w.calls >= last
				w.last = 0
				time.Sleep(time.Minute)
				done, _ := w.finish(t, "t")
				w.wantAllSent(t, fmt.Sprintf("dead at call %d, performed: %v", last, lost), done)
			})
			if !reached {
				break
			}
		}
	}
}

func TestHandler_workJobs_sends50ASecondAndGoesOnInTheNextInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 4500)
		ask[Survey](t, w, startReplay+"}")
		var sent []int
		for w.sent() < len(w.order) && len(sent) < 9 {
			w.wake(t)
			sent = append(sent, w.sent())
			time.Sleep(20 * time.Second)
		}
		if diff := cmp.Diff([]int{2100, 4200, 4500}, sent); diff != "" {
			t.Errorf("sent after each invocation (-want +got)\n%s", diff)
		}
		w.wantAllSent(t, "at the end", w.jobs[job.ID("t")])
	})
}

// The pending page of a job that is stopped is done to its end. The next one waits for resume.
func TestHandler_stopJob_andResumeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 250)
		id := ask[Survey](t, w, startReplay+`,"endpoint_id":"webhook_1"}`).Job.JobID
		do := func(action string) operator.Job {
			return ask[operator.Job](t, w, `{"action":"`+action+`","operator":"bob","job_id":"`+id+`"}`)
		}
		go func() {
			time.Sleep(time.Second) // in the first page's pause
			do("stop_job")
		}()
		w.wake(t)
		time.Sleep(time.Minute)
		if got := do("stop_job"); got.State != job.Stopped || got.Done != 200 || got.Left != 50 || got.StoppedBy != "bob" {
			t.Errorf("stopped: %+v", got)
		}
		if w.wake(t); w.sent() != 200 {
			t.Errorf("worked while stopped: %d", w.sent())
		}
		if got := do("resume_job"); got.State != job.Running {
			t.Errorf("resumed: %+v", got)
		}
		done, _ := w.finish(t, "t")
		w.wantAllSent(t, "after it was resumed", done)
		late := `{"action":"stop_job","operator":"bob","job_id":"` + id + `"}`
		if got := w.refused(t, late); got != "job_done job_id" {
			t.Errorf("stopped when it was done: %q", got)
		}
		delivery := w.lines["replay"]
		delivery.DeliveryID = "" // of any of the last
		w.lines["replay"] = delivery
		lines := map[string]audit.Line{
			"replay": {Action: "replay", OperatorClaimed: "ann", JobID: id, TenantID: "acme", EndpointID: "webhook_1"},
			"start_job": {
				Action: "start_job", OperatorClaimed: "ann", JobID: id, TenantID: "acme", EndpointID: "webhook_1", Act: "replay",
				Selector: jsontext.Value(`{"tenant_id":"acme","endpoint_id":"webhook_1","reason":"","status":"dead",` +
					`"since":null,"until":"2026-05-01T13:00:00Z"}`),
			},
			"stop_job":   {Action: "stop_job", OperatorClaimed: "bob", JobID: id, TenantID: "acme"},
			"resume_job": {Action: "resume_job", OperatorClaimed: "bob", JobID: id, TenantID: "acme"},
		}
		if diff := cmp.Diff(lines, w.lines); diff != "" {
			t.Errorf("audit lines (-want +got)\n%s", diff)
		}
	})
}

func TestHandler_workJobs_purges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 120)
		request := strings.Replace(startReplay, `"act":"replay"`, `"act":"purge","confirm":true`, 1)
		w.endpoints = map[string]endpoint.Status{} // a purge asks no endpoint
		if survey := ask[Survey](t, w, request+"}"); survey.Ready != 120 {
			t.Errorf("%+v", survey)
		}
		moved := w.letters[w.order[7]]
		moved.Status = deadletter.Replayed
		w.letters[moved.DeliveryID] = moved
		done, _ := w.finish(t, "t")
		if len(w.letters) != 1 || done.Done != 119 || w.sent() != 0 {
			t.Errorf("%d left, %+v", len(w.letters), done.Progress)
		}
	})
}

func TestHandler_workJobs_publishesRejectedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 0)
		for n, body := range []string{good, strings.Replace(good, "acme", "other", 1), `{"tenant_id":"acme"}`, good} {
			w.rejected = append(w.rejected, rejected.Event{
				MessageID: strconv.Itoa(n), EventID: "evt_" + strconv.Itoa(n), Body: body, SentAt: at, Reason: "not_processed",
			})
		}
		all := slices.Clone(w.rejected)
		request := strings.Replace(startReplay, "replay", "publish", 1) + `,"reason":"processed"}`
		survey := ask[Survey](t, w, request)
		survey.Job, survey.Until = nil, time.Time{}
		want := Survey{Selected: 3, Ready: 2, Refused: map[string]int{"invalid_event": 1}, Complete: true}
		if diff := cmp.Diff(want, survey); diff != "" || len(w.restored) != 4 || w.hidden != rejected.Briefly {
			t.Errorf("%d returned, hidden for %s (-want +got)\n%s", len(w.restored), w.hidden, diff)
		}
		w.rejected, w.restored = all, nil
		time.Sleep(job.LooksOver)
		w.wake(t)
		done := w.jobs[job.ID("t")]
		if done.State != job.Done || done.Done != 2 || done.Refused["invalid_event"] != 1 || len(w.restored) != 2 ||
			w.hidden != job.HideFor {
			t.Errorf("%+v, returned %v, hidden for %s", done, w.restored, w.hidden)
		}
		if diff := cmp.Diff([]job.Failure{{ID: "2", Refused: true, Reason: "invalid event: type: is required"}},
			w.pages[1].Failures); diff != "" {
			t.Errorf("failures (-want +got)\n%s", diff)
		}
	})
}

// Of many jobs, those have their turn that had the last one the longest ago. None waits for the ends of the others.
func TestHandler_workJobs_givesEachJobATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 1)
		for n := range 2*maxJobs + 1 {
			id := fmt.Sprint("job_", n)
			w.jobs[id] = job.Job{ID: id, Act: job.Purge, State: job.Running, StartedAt: at, Progress: job.Progress{
				Pending: []string{"gone"}, Cursor: "more", UpdatedAt: at.Add(time.Duration(-n) * time.Second),
			}}
		}
		for range 3 {
			w.wake(t)
			time.Sleep(time.Minute)
		}
		for id, j := range w.jobs {
			if !j.UpdatedAt.After(at) {
				t.Errorf("%s had no turn", id)
			}
		}
	})
}

// Where time ends within a round, the jobs without a turn in it come first in the next invocation.
func TestHandler_workJobs_endsWithinARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 2*jobPage)
		begun := time.Now()
		for n := range 3 {
			id := fmt.Sprint("job_", n)
			w.jobs[id] = job.Job{
				ID: id, Act: job.Purge, State: job.Running, Selector: job.Selector{Status: "dead", Until: begun},
				Progress: job.Progress{Pending: w.order[:jobPage], Cursor: w.order[jobPage-1]},
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), reserve+7*time.Second) // a page takes 2 s
		defer cancel()
		w.invoke(ctx, t, `{"action":"work_jobs","operator":"release"}`)
		last := map[string]string{}
		for id, j := range w.jobs {
			last[id] = j.UpdatedAt.Sub(begun).String()
		}
		if diff := cmp.Diff(map[string]string{"job_0": "6s", "job_1": "8s", "job_2": "4s"}, last); diff != "" {
			t.Errorf("last turns (-want +got)\n%s", diff)
		}
	})
}

// A letter that another job has purged ends no job: a table stores no count without a reason.
func TestHandler_workJobs_countsWhatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, 1)
		id := job.ID("t")
		w.jobs[id] = job.Job{ID: id, Act: job.Replay, State: job.Running, StartedAt: at, Progress: job.Progress{
			Pending: []string{"gone"}, Listed: true,
		}}
		done, _ := w.finish(t, "t")
		if diff := cmp.Diff(map[string]int{"not_found": 1}, done.Refused); diff != "" || done.State != job.Done {
			t.Errorf("%s, refused (-want +got)\n%s", done.State, diff)
		}
	})
}
