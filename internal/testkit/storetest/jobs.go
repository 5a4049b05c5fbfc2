package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Jobs is the store of operators' jobs.
type Jobs interface {
	Create(ctx context.Context, j job.Job) (stored job.Job, created bool, err error)
	Get(ctx context.Context, id string) (j job.Job, found bool, err error)
	List(ctx context.Context, state job.State, limit int, cursor string) (jobs []job.Job, next string, err error)
	Running(ctx context.Context) (bool, error)
	SetState(
		ctx context.Context, j job.Job, to job.State, operator string, now time.Time,
	) (stored job.Job, changed bool, err error)
	Lease(ctx context.Context, id, worker string, now, until time.Time) (j job.Job, leased bool, err error)
	Advance(ctx context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error)
	Leave(ctx context.Context, id, worker string) error
	PutPage(ctx context.Context, j job.Job, p job.Page) error
	Pages(ctx context.Context, id string, after, limit int) (pages []job.Page, more bool, err error)
}

// Job was started so many minutes after a moment.
func Job(id string, minutes int) job.Job {
	started := at.Add(time.Duration(minutes) * time.Minute)
	return job.Job{
		ID: id, Act: job.Replay, Operator: "ann", StartedAt: started, RunsFrom: started, State: job.Running, Selected: 3,
		Selector: job.Selector{
			TenantID: "acme", EndpointID: "webhook_1", EventID: "evt_1", Reason: "timeout", Status: "dead", Since: at,
			Until: started, PublishedSince: at.Add(-time.Hour), PublishedUntil: at,
		},
		Progress: job.Progress{UpdatedAt: started},
	}
}

func start(t testing.TB, b Backend, j job.Job) job.Job {
	t.Helper()
	if _, created, err := b.Jobs.Create(t.Context(), j); !created || err != nil {
		t.Fatalf("created: %v, %v", created, err)
	}
	return j
}

func wantJob(t testing.TB, b Backend, doing string, want job.Job) {
	t.Helper()
	got, found, err := b.Jobs.Get(t.Context(), want.ID)
	if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
		t.Errorf("%s: %v, %v (-want +got)\n%s", doing, found, err, diff)
	}
}

func wantLease(t testing.TB, b Backend, worker string, after time.Duration, want bool) {
	t.Helper()
	now := at.Add(after)
	_, leased, err := b.Jobs.Lease(t.Context(), "job_1", worker, now, now.Add(time.Minute))
	if leased != want || err != nil {
		t.Errorf("leased to %s after %s: %v, %v", worker, after, leased, err)
	}
}

// advance is the answer to the worker w1.
func advance(t testing.TB, b Backend, j job.Job) error {
	t.Helper()
	stored, leased, err := b.Jobs.Advance(t.Context(), j, "w1")
	if j.Finished() {
		j.State = job.Done
	}
	if leased && !cmp.Equal(j, stored) {
		t.Errorf("advanced (-want +got)\n%s", cmp.Diff(j, stored))
	}
	return applied(leased, err)
}

var jobPromises = []Promise{
	{"a job is made once", func(t testing.TB, b Backend) {
		j := Job("job_1", 0)
		again(t, b, func() error {
			_, created, err := b.Jobs.Create(t.Context(), j)
			return applied(created, err)
		})
		other := j
		other.Operator = "bob"
		if stored, created, err := b.Jobs.Create(t.Context(), other); created || err != nil || stored.Operator != "ann" {
			t.Errorf("created twice: %v, %+v", err, stored)
		}
		wantJob(t, b, "made", j)
		if _, found, err := b.Jobs.Get(t.Context(), "job_2"); found || err != nil {
			t.Errorf("found what is not there: %v", err)
		}
	}},
	{"one worker has a running job, until its lease has passed", func(t testing.TB, b Backend) {
		wantLease(t, b, "w1", 0, false) // there is none
		start(t, b, Job("job_1", 0))
		again(t, b, func() error {
			_, leased, err := b.Jobs.Lease(t.Context(), "job_1", "w1", at, at.Add(time.Minute))
			return applied(leased, err)
		})
		wantLease(t, b, "w2", time.Minute, false)
		wantLease(t, b, "w1", 30*time.Second, true) // prolonged
		wantLease(t, b, "w2", 90*time.Second, false)
		wantLease(t, b, "w2", 90*time.Second+time.Millisecond, true)
		for _, worker := range []string{"w1", "w2"} { // w1 has it no longer
			again(t, b, func() error { return b.Jobs.Leave(t.Context(), "job_1", worker) })
			wantLease(t, b, "w3", 91*time.Second, worker == "w2")
		}
	}},
	{"only the worker with the lease brings a job further", func(t testing.TB, b Backend) {
		j := start(t, b, Job("job_1", 0))
		wantLease(t, b, "w1", 0, true)
		j.Progress = job.Progress{
			Done: 1, Refused: map[string]int{"replay_limit": 1}, Pages: 1, Pending: []string{"msg_3"}, Tries: 2,
			Cursor: "c", Listed: true, UpdatedAt: at.Add(time.Second),
		}
		again(t, b, func() error { return advance(t, b, j) })
		wantLease(t, b, "w2", 61*time.Second, true)
		for _, late := range []job.Job{Job("job_1", 0), j} { // the latter is how it stands
			if err := advance(t, b, late); !errors.Is(err, errRefused) {
				t.Errorf("advanced without a lease: %v", err)
			}
		}
		wantJob(t, b, "without a lease", j)
	}},
	{"a job that is finished is done, and never runs again", func(t testing.TB, b Backend) {
		j := start(t, b, Job("job_1", 0))
		wantLease(t, b, "w1", 0, true)
		j.Progress = job.Progress{Done: 2, Listed: true, UpdatedAt: at}
		again(t, b, func() error { return advance(t, b, j) })
		j.State = job.Done
		wantJob(t, b, "finished", j)
		wantLease(t, b, "w2", time.Hour, false)
		_, changed, err := b.Jobs.SetState(t.Context(), Job("job_1", 0), job.Stopped, "bob", at)
		if changed || err != nil {
			t.Errorf("stopped what is done: %v", err)
		}
		wantJob(t, b, "stopped", j)
	}},
	{"a stop and its worker's progress refuse each other not", func(t testing.TB, b Backend) {
		j := start(t, b, Job("job_1", 0))
		wantLease(t, b, "w1", 0, true)
		later := at.Add(time.Second)
		again(t, b, func() error {
			stopped, changed, err := b.Jobs.SetState(t.Context(), j, job.Stopped, "bob", later)
			if changed && (stopped.State != job.Stopped || stopped.StoppedBy != "bob") {
				t.Errorf("stopped: %+v", stopped)
			}
			return applied(changed, err)
		})
		j.Done, j.Pending = 1, []string{"msg_2"}
		j.State = job.Stopped
		j.StoppedBy = "bob"
		j.RunsFrom = later
		again(t, b, func() error { return advance(t, b, j) })
		wantJob(t, b, "advanced", j)
		wantLease(t, b, "w1", 0, false)
	}},
	{"stopped and running jobs are listed first, each newest first", func(t testing.TB, b Backend) {
		running := func(want bool) {
			t.Helper()
			if got, err := b.Jobs.Running(t.Context()); got != want || err != nil {
				t.Errorf("running: %v, %v", got, err)
			}
		}
		running(false)
		for n, state := range []job.State{job.Done, job.Stopped, job.Done} {
			j := Job("job_"+string(rune('a'+n)), n)
			j.State = state
			start(t, b, j)
		}
		running(false)
		start(t, b, Job("job_d", -1))
		running(true)
		for state, want := range map[job.State][]string{
			"": {"job_b", "job_d", "job_c", "job_a"}, job.Done: {"job_c", "job_a"}, job.Running: {"job_d"},
		} {
			var got []string
			for _, j := range pages(t, 1, func(cursor string) ([]job.Job, string, error) {
				return b.Jobs.List(t.Context(), state, 1, cursor)
			}) {
				got = append(got, j.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-want +got)\n%s", state, diff)
			}
		}
		if _, _, err := b.Jobs.List(t.Context(), "", 1, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
			t.Errorf("cursor: %v", err)
		}
	}},
	{"pages of results are found in their order, each once", func(t testing.TB, b Backend) {
		j := start(t, b, Job("job_1", 0))
		start(t, b, Job("job_2", 0))
		var want []job.Page
		for n := range 12 {
			p := job.Page{
				Number: n + 1, Done: []string{"msg_1"},
				Failures: []job.Failure{{ID: "msg_2", Refused: true, Reason: "r"}},
			}
			want = append(want, p)
			again(t, b, func() error { return b.Jobs.PutPage(t.Context(), j, p) })
		}
		var got []job.Page
		for after, more := 0, true; more; after = got[len(got)-1].Number {
			page, left, err := b.Jobs.Pages(t.Context(), j.ID, after, 5)
			if err != nil || len(page) == 0 {
				t.Fatalf("%d pages, %v", len(page), err)
			}
			got, more = append(got, page...), left
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages (-want +got)\n%s", diff)
		}
	}},
}
