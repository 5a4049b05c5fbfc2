//go:build emulator

package dynamo_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
)

func jobAt(id string, minutes int) job.Job {
	at := deadAt.Add(time.Duration(minutes) * time.Minute)
	return job.Job{
		ID: id, Act: job.Replay, Operator: "ann", StartedAt: at, State: job.Running, Selected: 3,
		Selector: job.Selector{
			TenantID: "acme", EndpointID: "webhook_1", Reason: "timeout", Status: "dead",
			Since: deadAt, Until: at,
		},
		Progress: job.Progress{UpdatedAt: at},
	}
}

func createJob(t *testing.T, jobs *dynamo.Jobs, j job.Job) {
	t.Helper()
	if _, created, err := jobs.Create(t.Context(), j); !created || err != nil {
		t.Fatalf("created: %v, %v", created, err)
	}
}

func wantJob(t *testing.T, jobs *dynamo.Jobs, want job.Job) {
	t.Helper()
	got, found, err := jobs.Get(t.Context(), want.ID)
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Errorf("stored: %v, %v (-want +got)\n%s", found, err, diff)
	}
}

// No write is refused by itself where its answer was lost.
func TestJobs_oneWorkerBringsAJobFurther(t *testing.T) {
	r := newRig(t)
	jobs := r.jobs
	r.loseAnswers()
	j := jobAt("job_1", 0)
	createJob(t, jobs, j)
	wantJob(t, jobs, j)
	other := j
	other.Operator = "bob"
	if stored, created, err := jobs.Create(t.Context(), other); created || err != nil || stored.Operator != "ann" {
		t.Errorf("created twice: %v, %+v", err, stored)
	}
	lease := func(worker string, at time.Time, want bool) {
		t.Helper()
		if _, leased, err := jobs.Lease(t.Context(), j.ID, worker, at, at.Add(time.Minute)); leased != want || err != nil {
			t.Errorf("leased to %s: %v, %v", worker, leased, err)
		}
	}
	lease("w1", deadAt, true)
	lease("w2", deadAt.Add(time.Minute), false)
	j.Progress = job.Progress{
		Done: 1, Refused: map[string]int{"replay_limit": 1}, Pages: 1, Pending: []string{"msg_3"}, Tries: 2, Cursor: "c",
		Listed: true, UpdatedAt: deadAt.Add(time.Second),
	}
	if stored, leased, err := jobs.Advance(t.Context(), j, "w1"); !leased || err != nil || !cmp.Equal(j, stored) {
		t.Errorf("advanced: %v, %v, %s", leased, err, cmp.Diff(j, stored))
	}
	lease("w2", deadAt.Add(61*time.Second), true)
	for _, j := range []job.Job{jobAt("job_1", 0), j} { // the latter is how it stands
		if _, leased, err := jobs.Advance(t.Context(), j, "w1"); leased || err != nil {
			t.Errorf("advanced without a lease: %v, %v", leased, err)
		}
	}
	for _, worker := range []string{"w1", "w2"} {
		if err := jobs.Leave(t.Context(), j.ID, worker); err != nil {
			t.Error(err)
		}
	}
	lease("w3", deadAt, true)
	j.Progress = job.Progress{Done: 2, Listed: true, UpdatedAt: deadAt}
	if _, leased, err := jobs.Advance(t.Context(), j, "w3"); !leased || err != nil {
		t.Errorf("ended: %v, %v", leased, err)
	}
	j.State = job.Done
	wantJob(t, jobs, j)
	lease("w4", deadAt.Add(time.Hour), false)
	_, changed, err := jobs.SetState(t.Context(), jobAt("job_1", 0), job.Stopped, "bob", deadAt)
	if changed || err != nil {
		t.Errorf("stopped what is done: %v", err)
	}
}

// A stop and its worker's progress do not refuse each other.
func TestJobs_SetState_keepsProgress(t *testing.T) {
	jobs := newRig(t).jobs
	j := jobAt("job_1", 0)
	createJob(t, jobs, j)
	if _, leased, err := jobs.Lease(t.Context(), j.ID, "w", deadAt, deadAt.Add(time.Minute)); !leased || err != nil {
		t.Fatal(leased, err)
	}
	stopped, changed, err := jobs.SetState(t.Context(), j, job.Stopped, "bob", deadAt)
	if !changed || err != nil || stopped.State != job.Stopped || stopped.StoppedBy != "bob" {
		t.Errorf("stopped: %+v, %v", stopped, err)
	}
	j.Done, j.Pending = 1, []string{"msg_2"}
	j.State, j.StoppedBy = job.Stopped, "bob"
	j.RunsFrom = deadAt
	if stored, leased, err := jobs.Advance(t.Context(), j, "w"); !leased || err != nil || !cmp.Equal(j, stored) {
		t.Errorf("%v, %v, %s", leased, err, cmp.Diff(j, stored))
	}
	if _, leased, err := jobs.Lease(t.Context(), j.ID, "w", deadAt, deadAt.Add(time.Hour)); leased || err != nil {
		t.Errorf("leased what is stopped: %v", err)
	}
}

func TestJobs_List_hasTheStoppedAndRunningFirst(t *testing.T) {
	jobs := newRig(t).jobs
	running := func(want bool) {
		t.Helper()
		if got, err := jobs.Running(t.Context()); got != want || err != nil {
			t.Errorf("running: %v, %v", got, err)
		}
	}
	running(false)
	for n, state := range []job.State{job.Done, job.Stopped, job.Done} {
		j := jobAt("job_"+string(rune('a'+n)), n)
		j.State = state
		createJob(t, jobs, j)
	}
	running(false)
	createJob(t, jobs, jobAt("job_d", -1))
	running(true)
	for state, want := range map[job.State][]string{
		"": {"job_b", "job_d", "job_c", "job_a"}, job.Done: {"job_c", "job_a"}, job.Running: {"job_d"},
	} {
		var got []string
		for _, j := range pages(t, 1, func(cursor string) ([]job.Job, string, error) {
			return jobs.List(t.Context(), state, 1, cursor)
		}) {
			got = append(got, j.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", state, diff)
		}
	}
}

func TestJobs_Pages_areFoundInTheirOrder(t *testing.T) {
	jobs := newRig(t).jobs
	j := jobAt("job_1", 0)
	createJob(t, jobs, j)
	var want []job.Page
	for n := range 12 {
		failures := []job.Failure{{ID: "msg_2", Refused: true, Reason: "r"}}
		p := job.Page{Number: n + 1, Done: []string{"msg_1"}, Failures: failures}
		want = append(want, p)
		for range 2 { // a page that is done again takes the place of the first
			if err := jobs.PutPage(t.Context(), j, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []job.Page
	for after, more := 0, true; more; after = got[len(got)-1].Number {
		var page []job.Page
		var err error
		if page, more, err = jobs.Pages(t.Context(), j.ID, after, 5); err != nil || len(page) == 0 {
			t.Fatalf("%d pages, %v", len(page), err)
		}
		got = append(got, page...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got)\n%s", diff)
	}
}
