package replay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// store is the tables and queues of jobs, in fake time. A process that has made its last call gets no answer any more.
type store struct {
	*world
	order []string // of the dead letters, by death
	jobs  map[string]job.Job
	lease map[string]struct {
		worker string
		until  time.Time
	}
	pages map[int]job.Page
	sent  map[string]int // by delivery id
	lines map[string]int // of the audit log, by delivery id
	calls int            // of this process
	last  int            // the process dies at this call, 0: never
	lost  bool           // the last call is done, and its answer lost
	takes time.Duration  // to receive
}

// newStore has dead letters of webhook_1, one a second, the first just after the beginning.
func newStore(t *testing.T, n int) *store {
	t.Helper()
	s := &store{
		world: newWorld(), jobs: map[string]job.Job{}, pages: map[int]job.Page{}, sent: map[string]int{},
		lines: map[string]int{},
	}
	s.lease = map[string]struct {
		worker string
		until  time.Time
	}{}
	for i := range n {
		r := letter(t, func(r *deadletter.Record) {
			r.EventID = "evt_" + strconv.Itoa(i)
			r.DeliveryID = delivery.ID("acme", r.EventID, "webhook_1", delivery.ContentOf([]byte(body)))
			r.DiedAt = at.Add(time.Duration(i) * time.Millisecond)
		})
		death := deadletter.Death{Body: []byte(body), Entry: deadletter.Entry{Reason: r.Reason}}
		sealed, err := vault.SealDeath(t.Context(), r, death)
		if err != nil {
			t.Fatal(err)
		}
		r.Sealed = sealed
		s.letters[r.DeliveryID] = r
		s.order = append(s.order, r.DeliveryID)
	}
	return s
}

// begin counts a call. done reports whether it is performed, and answered whether its caller hears of it.
func (s *store) begin() (done, answered bool) {
	s.calls++
	switch {
	case s.last == 0 || s.calls < s.last:
		return true, true
	case s.calls == s.last:
		return s.lost, false
	}
	return false, false
}

// call performs an AWS call, unless the process died before it.
func (s *store) call(do func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, answered := s.begin()
	if done {
		do()
	}
	if !answered {
		return errAWS
	}
	return nil
}

// handler is a new process.
func (s *store) handler() *Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = 0
	return &Handler{
		DeadLetters: storedLetters{s}, States: storedStates{s}, Endpoints: endpoints{s.world}, Jobs: s, Vault: vault,
		Deliveries: nowhere{}, Retries: s, Events: nowhere{}, Rejected: s, Passing: s, Audit: s,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

// Write takes audit lines.
func (s *store) Write(_ context.Context, lines ...audit.Line) error {
	return s.call(func() {
		for _, l := range lines {
			s.lines[l.DeliveryID]++
		}
	})
}

// change is a call that changes a dead letter. It is not made without a line in the audit log.
func (s *store) change(id string, do func()) error {
	return s.call(func() {
		if s.lines[id] == 0 {
			panic(id + " is changed without an audit line")
		}
		do()
	})
}

// nowhere takes no message.
type nowhere struct{}

func (nowhere) Send(_ context.Context, messages []queue.Outgoing) []error {
	return slices.Repeat([]error{errAWS}, len(messages))
}

// Send takes messages of RetryQueue.
func (s *store) Send(_ context.Context, messages []queue.Outgoing) []error {
	err := s.call(func() {
		for _, m := range messages {
			s.sent[*m.Attributes["delivery_id"].StringValue]++
		}
	})
	return slices.Repeat([]error{err}, len(messages))
}

type storedStates struct{ *store }

func (s storedStates) Update(context.Context, delivery.Record) (bool, error) {
	return true, s.call(func() {})
}

func (s storedStates) Purged(context.Context, delivery.Record) error { return s.call(func() {}) }

type storedLetters struct{ *store }

func (s storedLetters) Get(_ context.Context, id string) (r deadletter.Record, found bool, err error) {
	err = s.call(func() { r, found = s.letters[id] })
	return r, found, err
}

func (s storedLetters) List(
	_ context.Context, sel deadletter.Selector, p dynamo.LetterPage,
) (records []deadletter.Record, next string, err error) {
	err = s.call(func() {
		start := 0
		if p.Cursor != "" {
			start = slices.Index(s.order, p.Cursor) + 1
		}
		for _, id := range s.order[start:] {
			if len(records) == p.Limit {
				next = records[len(records)-1].DeliveryID
				break
			}
			r, there := s.letters[id]
			if there && r.Status == sel.Status && r.DiedAt.Before(sel.Until) {
				r.Sealed = deadletter.Sealed{}
				records = append(records, r)
			}
		}
	})
	return records, next, err
}

func (s storedLetters) Claim(
	_ context.Context, r deadletter.Record, _, jobID string, now time.Time,
) (replay int, fresh, ok bool, err error) {
	err = s.change(r.DeliveryID, func() {
		stands := s.letters[r.DeliveryID]
		stale := stands.Status == deadletter.Replaying && now.Sub(stands.UpdatedAt) >= deadletter.StaleClaim
		fresh = stands.Status == deadletter.Dead
		if ok = fresh || stale; !ok {
			return
		}
		if fresh {
			stands.ReplayCount++
		}
		stands.Status, stands.UpdatedAt, stands.JobID = deadletter.Replaying, now, jobID
		replay = stands.ReplayCount
		s.letters[r.DeliveryID] = stands
	})
	return replay, fresh, ok, err
}

func (s storedLetters) EndReplay(
	_ context.Context, id string, _ int, status deadletter.Status, now time.Time,
) error {
	return s.call(func() {
		r := s.letters[id]
		r.Status, r.UpdatedAt = status, now
		s.letters[id] = r
	})
}

func (s storedLetters) Purge(_ context.Context, r deadletter.Record) (bool, error) {
	return true, s.change(r.DeliveryID, func() { delete(s.letters, r.DeliveryID) })
}

func (s *store) Create(_ context.Context, j job.Job) (stored job.Job, created bool, err error) {
	err = s.call(func() {
		if stored, created = s.jobs[j.ID]; !created {
			s.jobs[j.ID], stored = j, j
		}
		created = !created
	})
	return stored, created, err
}

func (s *store) Get(_ context.Context, id string) (j job.Job, found bool, err error) {
	err = s.call(func() { j, found = s.jobs[id] })
	return j, found, err
}

func (s *store) SetState(
	_ context.Context, j job.Job, to job.State, by string, _ time.Time,
) (stored job.Job, changed bool, err error) {
	err = s.call(func() {
		stored = s.jobs[j.ID]
		if changed = stored.State != job.Done; changed {
			stored.State, stored.StoppedBy = to, by
			s.jobs[j.ID] = stored
		}
	})
	return stored, changed, err
}

func (s *store) List(_ context.Context, state job.State, _ int, _ string) (jobs []job.Job, next string, err error) {
	err = s.call(func() {
		for _, j := range s.jobs {
			if j.State == state {
				jobs = append(jobs, j)
			}
		}
		slices.SortFunc(jobs, func(a, b job.Job) int { return cmp.Compare(a.ID, b.ID) })
	})
	return jobs, "", err
}

func (s *store) Lease(
	_ context.Context, id, worker string, now, until time.Time,
) (j job.Job, leased bool, err error) {
	err = s.call(func() {
		held := s.lease[id]
		if j = s.jobs[id]; j.State != job.Running || now.Before(held.until) && held.worker != worker {
			return
		}
		held.worker, held.until, leased = worker, until, true
		s.lease[id] = held
	})
	return j, leased, err
}

func (s *store) Advance(_ context.Context, j job.Job, worker string) (stored job.Job, leased bool, err error) {
	err = s.call(func() {
		if s.lease[j.ID].worker != worker {
			return
		}
		stored, leased = s.jobs[j.ID], true
		if stored.Progress = j.Progress; j.Finished() {
			stored.State = job.Done
		}
		s.jobs[j.ID] = stored
	})
	return stored, leased, err
}

func (s *store) PutPage(_ context.Context, _ job.Job, p job.Page) error {
	return s.call(func() { s.pages[p.Number] = p })
}

func (s *store) Leave(_ context.Context, id, worker string) error {
	return s.call(func() {
		if s.lease[id].worker == worker {
			delete(s.lease, id)
		}
	})
}

// Receive gives each event once until all are returned.
func (s *store) Receive(_ context.Context, most int) (some []rejected.Event, err error) {
	time.Sleep(s.takes)
	err = s.call(func() { some, err = s.world.Receive(context.Background(), most) })
	return some, err
}

// ask invokes an action and decodes its answer.
func askJobs[T any](t *testing.T, h *Handler, request string) (answer T) {
	t.Helper()
	out, err := h.Function().Invoke(t.Context(), []byte(request))
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil {
		t.Fatalf("%s: %s, %v", request, out, err)
	}
	return answer
}

type refusal struct {
	Error operator.Refusal `json:"error"`
}

const startReplay = `{"action":"start_job","operator":"ann","act":"replay","tenant_id":"acme","token":"t"`

// wake is release's: replay is invoked, and ended at its timeout.
func (s *store) wake(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	_, err := s.handler().Function().Invoke(ctx, []byte(`{"action":"work_jobs","operator":"release"}`))
	return err
}

// finish wakes replay each minute until the job is done, and returns it.
func (s *store) finish(t *testing.T) (done job.Job, minutes int) {
	t.Helper()
	for minutes = 1; minutes < 300; minutes++ {
		if err := s.wake(t); err != nil {
			t.Fatalf("minute %d: %v", minutes, err)
		}
		time.Sleep(time.Minute)
		if j := s.jobs[job.ID("t")]; j.State != job.Running {
			return j, minutes
		}
	}
	t.Fatal("the job does not end")
	return done, 0
}

func (s *store) wantAllSent(t *testing.T, when string, done job.Job) {
	t.Helper()
	if done.State != job.Done || done.Done != len(s.order) || job.Total(done.Refused)+job.Total(done.Failed) != 0 {
		t.Errorf("%s: %+v", when, done.Progress)
	}
	paged := 0
	for _, p := range s.pages {
		paged += len(p.Done) + len(p.Failures)
	}
	if len(s.sent) != len(s.order) || paged != len(s.order) {
		t.Errorf("%s: %d of %d are sent, %d on pages", when, len(s.sent), len(s.order), paged)
	}
}

// A process that dies at any of its calls, performed or not, is followed by one that finishes the job with exact
// counts.
func TestHandler_workJobs_survivesAProcessThatDiesAnywhere(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for last := 1; ; last++ {
			reached := false
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(at.Add(time.Hour)))
				s := newStore(t, 3)
				started := askJobs[Survey](t, s.handler(), startReplay+"}")
				if started.Selected != 3 || started.Job == nil {
					t.Fatalf("started %+v", started)
				}
				s.last, s.lost = last, lost
				_ = s.wake(t)
				reached = s.calls >= last
				s.last = 0
				time.Sleep(time.Minute)
				done, _ := s.finish(t)
				s.wantAllSent(t, fmt.Sprintf("dead at call %d, performed: %v", last, lost), done)
			})
			if !reached {
				break
			}
		}
	}
}

func TestHandler_workJobs_sends50ASecondAndGoesOnInTheNextInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 4500)
		askJobs[Survey](t, s.handler(), startReplay+"}")
		var sent []int
		for len(s.sent) < len(s.order) {
			if err := s.wake(t); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, len(s.sent))
			time.Sleep(20 * time.Second)
		}
		if diff := gocmp.Diff([]int{2100, 4200, 4500}, sent); diff != "" {
			t.Errorf("sent after each invocation (-want +got)\n%s", diff)
		}
		s.wantAllSent(t, "at the end", s.jobs[job.ID("t")])
	})
}

func TestHandler_startJob_surveysAndStartsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 7)
		for n, change := range []func(*deadletter.Record){
			func(r *deadletter.Record) { r.EndpointID = "webhook_deleted" },
			func(r *deadletter.Record) { r.EndpointID = "webhook_disabled" },
			func(r *deadletter.Record) { r.ReplayCount = deadletter.MaxReplays },
			func(r *deadletter.Record) {
				r.Ref, r.Reason = delivery.Ref{DeliveryID: r.DeliveryID}, delivery.ReasonUnreadable
			},
			func(r *deadletter.Record) { r.DiedAt = time.Now().Add(time.Second) },
		} {
			r := s.letters[s.order[n]]
			change(&r)
			s.letters[s.order[n]] = r
		}
		refused := map[string]int{"endpoint_deleted": 1, "endpoint_disabled": 1, "replay_limit": 1, "unreadable": 1}
		request := strings.Replace(startReplay, `"tenant_id":"acme"`, `"status":"dead"`, 1)
		dry := askJobs[Survey](t, s.handler(), request+`,"dry_run":true}`)
		want := Survey{Selected: 6, Ready: 2, Refused: refused, Complete: true, Until: time.Now().UTC()}
		if diff := gocmp.Diff(want, dry); diff != "" || len(s.jobs) != 0 {
			t.Errorf("dry run, %d jobs (-want +got)\n%s", len(s.jobs), diff)
		}
		first := askJobs[Survey](t, s.handler(), request+"}")
		time.Sleep(time.Second)
		again := askJobs[Survey](t, s.handler(), request+"}")
		if diff := gocmp.Diff(first.Job, again.Job); diff != "" || len(s.jobs) != 1 {
			t.Errorf("asked again, %d jobs (-first +again)\n%s", len(s.jobs), diff)
		}
		other := askJobs[refusal](t, s.handler(), startReplay+"}")
		if other.Error.Field != "token" {
			t.Errorf("another request under the token: %+v", other)
		}
		ended := askJobs[refusal](t, s.handler(), request+`,"until":"`+dry.Until.Format(time.RFC3339Nano)+`"}`)
		if ended.Error.Field != "token" {
			t.Errorf("with another end under the token: %+v", ended)
		}
		done, _ := s.finish(t)
		if diff := gocmp.Diff(refused, done.Refused); diff != "" || done.Done != 2 || len(s.sent) != 2 {
			t.Errorf("%d done, %d sent (-want +got)\n%s", done.Done, len(s.sent), diff)
		}
	})
}

func TestHandler_startJob_namesTheFieldAtFault(t *testing.T) {
	s := &store{world: newWorld()}
	for fields, field := range map[string]string{
		`"act":"delete","tenant_id":"acme"`:                                                               "act",
		`"act":"purge","tenant_id":"acme"`:                                                                "confirm",
		`"act":"replay","tenant_id":"acme","status":"replayed"`:                                           "status",
		`"act":"replay","tenant_id":"acme","status":"gone"`:                                               "status",
		`"act":"publish","endpoint_id":"webhook_1"`:                                                       "endpoint_id",
		`"act":"publish","status":"dead"`:                                                                 "status",
		`"act":"replay","token":"` + strings.Repeat("x", 129) + `"`:                                       "token",
		`"act":"replay","tenant_id":"acme","since":"2026-01-02T00:00:00Z","until":"2026-01-01T00:00:00Z"`: "until",
		`"act":"replay","tenant_id":"acme","endpoint_id":"a.example"`:                                     "endpoint_id",
		`"act":"replay","tenant":"acme"`:                                                                  "tenant",
	} {
		got := askJobs[refusal](t, s.handler(), `{"action":"start_job","operator":"ann",`+fields+`}`)
		if got.Error.Field != field {
			t.Errorf("%s: %+v, want %s", fields, got.Error, field)
		}
	}
}

// What is pending when a job is stopped is done by the page's end; what follows waits for resume.
func TestHandler_stopJob_andResumeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 250)
		id := askJobs[Survey](t, s.handler(), startReplay+"}").Job.JobID
		ask := func(action string) operator.Job {
			return askJobs[operator.Job](t, s.handler(), `{"action":"`+action+`","operator":"bob","job_id":"`+id+`"}`)
		}
		go func() {
			time.Sleep(time.Second) // in the first page's pause
			ask("stop_job")
		}()
		if err := s.wake(t); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := ask("stop_job"); got.State != job.Stopped || got.Done != 200 || got.Left != 50 || got.StoppedBy != "bob" {
			t.Errorf("stopped: %+v", got)
		}
		if err := s.wake(t); err != nil || len(s.sent) != 200 {
			t.Errorf("worked while stopped: %d, %v", len(s.sent), err)
		}
		if got := ask("resume_job"); got.State != job.Running {
			t.Errorf("resumed: %+v", got)
		}
		done, _ := s.finish(t)
		s.wantAllSent(t, "after it was resumed", done)
		late := askJobs[refusal](t, s.handler(), `{"action":"stop_job","operator":"bob","job_id":"`+id+`"}`)
		if late.Error.Code != "job_done" {
			t.Errorf("stopped when it was done: %+v", late)
		}
	})
}

func TestHandler_workJobs_purges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 120)
		request := strings.Replace(startReplay, `"act":"replay"`, `"act":"purge","confirm":true`, 1)
		askJobs[Survey](t, s.handler(), request+"}")
		moved := s.letters[s.order[7]]
		moved.Status = deadletter.Replayed
		s.letters[moved.DeliveryID] = moved
		s.endpoints = map[string]endpoint.Status{} // a purge asks no endpoint
		done, _ := s.finish(t)
		if len(s.letters) != 1 || done.Done != 119 || len(s.sent) != 0 {
			t.Errorf("%d left, %+v", len(s.letters), done.Progress)
		}
	})
}

func TestHandler_workJobs_publishesRejectedEvents(t *testing.T) {
	const good = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 0)
		for n, body := range []string{good, strings.Replace(good, "acme", "other", 1), `{"tenant_id":"acme"}`, good} {
			s.rejected = append(s.rejected, rejected.Event{
				MessageID: strconv.Itoa(n), EventID: "evt_" + strconv.Itoa(n), Body: body, SentAt: at, Reason: "not_processed",
			})
		}
		all := slices.Clone(s.rejected)
		request := strings.Replace(startReplay, "replay", "publish", 1) + `,"reason":"processed"}`
		survey := askJobs[Survey](t, s.handler(), request)
		survey.Job, survey.Until = nil, time.Time{}
		want := Survey{Selected: 3, Ready: 2, Refused: map[string]int{"invalid_event": 1}, Complete: true}
		if diff := gocmp.Diff(want, survey); diff != "" || len(s.restored) != 4 {
			t.Errorf("%d returned (-want +got)\n%s", len(s.restored), diff)
		}
		s.rejected, s.restored = all, nil
		h := s.handler()
		h.Events = s.world
		if _, err := h.Function().Invoke(t.Context(), []byte(`{"action":"work_jobs","operator":"release"}`)); err != nil {
			t.Fatal(err)
		}
		done := s.jobs[job.ID("t")]
		if done.State != job.Done || done.Done != 2 || done.Refused["invalid_event"] != 1 || len(s.restored) != 2 {
			t.Errorf("%+v, returned %v", done, s.restored)
		}
		if diff := gocmp.Diff([]job.Failure{{ID: "2", Refused: true, Reason: "invalid event: type: is required"}},
			s.pages[1].Failures); diff != "" {
			t.Errorf("failures (-want +got)\n%s", diff)
		}
	})
}

// Of many jobs, those have their turn whose last one was the longest ago: none waits for the others' ends.
func TestHandler_workJobs_givesEachJobATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 1)
		for n := range 2*maxJobs + 1 {
			id := fmt.Sprint("job_", n)
			s.jobs[id] = job.Job{ID: id, Act: job.Purge, State: job.Running, StartedAt: at, Progress: job.Progress{
				Pending: []string{"gone"}, Cursor: "more", UpdatedAt: at.Add(time.Duration(-n) * time.Second),
			}}
		}
		for range 3 {
			if err := s.wake(t); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		for id, j := range s.jobs {
			if !j.UpdatedAt.After(at) {
				t.Errorf("%s had no turn", id)
			}
		}
	})
}

// What another job has purged meanwhile ends no job: a table stores no count without a reason.
func TestHandler_workJobs_countsWhatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at.Add(time.Hour)))
		s := newStore(t, 1)
		id := job.ID("t")
		s.jobs[id] = job.Job{ID: id, Act: job.Replay, State: job.Running, StartedAt: at, Progress: job.Progress{
			Pending: []string{"gone"}, Listed: true,
		}}
		done, _ := s.finish(t)
		if diff := gocmp.Diff(map[string]int{"not_found": 1}, done.Refused); diff != "" || done.State != job.Done {
			t.Errorf("%s, refused (-want +got)\n%s", done.State, diff)
		}
	})
}
