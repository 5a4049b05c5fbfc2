package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// bystanders are the requests of operators who want none of a job's events. Their requests receive them, too.
var bystanders = []string{
	`{"action":"rejected_events","operator":"eve","tenant_id":"none"}`, // of inspect: it names no message
	`{"action":"rejected_events","operator":"eve","message_ids":["none"]}`,
	`{"action":"discard_rejected_events","operator":"eve","message_ids":["none"],"confirm":true}`,
	`{"action":"start_job","act":"publish","operator":"eve","tenant_id":"none","dry_run":true}`,
	`{"action":"start_job","act":"publish","operator":"eve","tenant_id":"none","token":"TOKEN"}`,
	`{"action":"start_job","act":"discard","operator":"eve","tenant_id":"none","token":"TOKEN","confirm":true}`,
	`{"action":"rejected_events","operator":"eve","event_id":"none"}`, // of inspect
}

// crowd are operators with requests that run while a job publishes.
type crowd struct {
	*account

	rng     *rand.Rand
	slow    time.Duration // the longest that a receive or an audit line takes
	dying   float64       // the share of requests that die before they restore anything
	stopped bool          // operators stop and resume the job, too
}

// Whatever requests run while a job publishes, and whatever becomes of them: when the job is done, no event that it
// selected is left.
//
// Threat of an operator: hides rejected events from a job that works through them. Held by: requests that receive them
// are refused until it ends.
func TestNoRequestHidesEventsFromAJobThatPublishes(t *testing.T) {
	for _, at := range bystanders {
		for _, dying := range []float64{0, 1} {
			for _, n := range []int{1, 4} {
				what := fmt.Sprintf("%d at once, %g die: %s", n, dying, at)
				playCrowd(t, what, 0, n, []string{at}, func(c *crowd) { c.slow, c.dying = 20*time.Millisecond, dying })
			}
		}
	}
	for seed := range uint64(12) {
		playCrowd(t, fmt.Sprint("seed ", seed), seed, 4, bystanders, func(c *crowd) {
			c.slow = []time.Duration{time.Millisecond, time.Second, 8 * time.Second, 20 * time.Second}[c.rng.IntN(4)]
			c.dying = []float64{0, 0.3, 1}[c.rng.IntN(3)]
			c.stopped = c.rng.IntN(2) == 0
		})
	}
}

// playCrowd has a job publish while operators make requests, from before its start until it is done.
func playCrowd(t *testing.T, what string, seed uint64, operators int, requests []string, of func(*crowd)) {
	t.Helper()
	const n = 60
	inLetters(t, 0, func(a *account) {
		c := &crowd{account: a, rng: rand.New(rand.NewPCG(seed, 1))}
		of(c)
		a.Faulty = c.stopped
		for id := range n {
			a.Reject(rejected.Event{
				MessageID: strconv.Itoa(id), EventID: fmt.Sprint("e", id), Body: good, Reason: "not_processed",
			})
		}
		time.Sleep(time.Second)
		a.Verdict = c.judge
		ctx, stop := context.WithCancel(a.Context())
		var wg sync.WaitGroup
		for range operators {
			wg.Go(func() { c.ask(ctx, requests) })
		}
		time.Sleep(c.upTo(20 * time.Second))
		for a.TokenNow("t").State == "" { // it is refused while another's job publishes
			_, _ = a.Within(timeout, startPublish+`}`)
			c.wakeSlowly()
			time.Sleep(c.upTo(time.Second))
		}
		if c.stopped {
			wg.Go(func() { c.toggle(ctx) })
		}
		minutes := c.work()
		stop()
		wg.Wait()
		if left := a.of("acme"); left > 0 || !c.stopped && c.slow < time.Second && minutes > 20 {
			t.Errorf("%s: %d events are left, after %d minutes: %+v", what, left, minutes, a.Token("t").Job)
		}
	})
}

// judge has receives take their time, and requests die.
func (c *crowd) judge(call *model.Call) model.Verdict {
	if strings.HasPrefix(call.Name, "Receive") || call.Name == "PutLogEvents" {
		time.Sleep(c.upTo(c.slow))
	}
	if call.Process.Name == "bystander" && strings.HasPrefix(call.Name, "ChangeVisibility") {
		c.Mutex.Lock()
		defer c.Mutex.Unlock()
		if c.rng.Float64() < c.dying {
			return model.Crashed
		}
	}
	return model.Done
}

// upTo is some time.
func (c *crowd) upTo(most time.Duration) time.Duration {
	c.Mutex.Lock()
	defer c.Mutex.Unlock()
	return 1 + time.Duration(c.rng.Int64N(int64(most)))
}

// ask makes requests until its context ends.
func (c *crowd) ask(ctx context.Context, requests []string) {
	for n := 0; ctx.Err() == nil; n++ {
		request := requests[int(c.upTo(1<<40))%len(requests)]
		c.request(request)
		time.Sleep(c.upTo(time.Second))
	}
}

// request makes a request of a new process.
func (c *crowd) request(request string) {
	p := c.Process("bystander")
	h := handler(c.account.Account, p).Function()
	if request == bystanders[0] || request == bystanders[len(bystanders)-1] {
		h = (&inspect.Handler{
			Meter:    unmeasured{},
			Rejected: rejected.Queue{Client: p.Polled(c.RejectedQueue)}, Jobs: p.Jobs(), Audit: p.Audit(),
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
		}).Function()
	}
	request = strings.Replace(request, "TOKEN", fmt.Sprint(c.upTo(1<<40)), 1)
	ask := func(ctx context.Context) { _, _ = h.Invoke(operatortest.ForGood(ctx), []byte(request)) }
	p.Invoke(timeout, ask, func() {})
}

// toggle stops and resumes the job, five times.
func (c *crowd) toggle(ctx context.Context) {
	for range 5 {
		for _, action := range []string{"stop", "resume"} {
			time.Sleep(c.upTo(3 * time.Minute))
			if ctx.Err() != nil {
				return
			}
			_, _ = c.Within(timeout, `{"action":"`+action+`_job","operator":"ann","job_id":"`+job.ID("t")+`"}`)
			time.Sleep(c.upTo(10 * time.Second))
		}
	}
}

// work wakes replay each minute until the job is done, and as soon as the job need not wait any longer.
func (c *crowd) work() (minutes int) {
	for minutes = 1; minutes < 300; minutes++ {
		next := time.Now().Add(time.Minute)
		if begins := c.TokenNow("t").RunsFrom.Add(job.LooksOver); time.Now().Before(begins) {
			next = begins.Add(c.upTo(time.Second))
		}
		c.wakeSlowly()
		if c.TokenNow("t").State == job.Done {
			return minutes
		}
		time.Sleep(time.Until(next))
	}
	c.Errorf("the job does not end: %+v", c.TokenNow("t").Job)
	return minutes
}

// A request that begins just before a job is stored as running is over, and the events that it hid are back, when the
// job begins. Whatever came before has taken its time, and the request dies before it restores anything.
func TestHandler_workJobs_beginsWhenRequestsFromBeforeAreOver(t *testing.T) {
	change := `_job","operator":"ann","job_id":"` + job.ID("t") + `"}`
	for _, action := range []string{"start", "resume"} {
		inLetters(t, 0, func(a *account) {
			for n := range 60 {
				a.Reject(rejected.Event{
					MessageID: strconv.Itoa(n), EventID: fmt.Sprint("e", n), Body: good, Reason: "not_processed",
				})
			}
			time.Sleep(time.Second)
			if action == "resume" {
				ask[api.Survey](a, startPublish+`}`)
				a.Ask(`{"action":"stop` + change)
			}
			c := &crowd{account: a, rng: rand.New(rand.NewPCG(1, 1)), dying: 1}
			var wg sync.WaitGroup
			stored := false
			a.Verdict = func(call *model.Call) model.Verdict {
				switch {
				case call.Name == "PutLogEvents" && action == "resume" && !stored:
					time.Sleep(30 * time.Second)
				case strings.HasPrefix(call.Name, "Receive") && (!stored || call.Process.Name == "bystander"):
					time.Sleep(5 * time.Second)
				case call.Name == "Write Jobs" && !stored:
					stored = true
					wg.Go(func() { c.request(bystanders[1]) })
					time.Sleep(time.Second) // it finds no running job
				}
				if call.Process.Name == "bystander" && strings.HasPrefix(call.Name, "ChangeVisibility") {
					return model.Crashed
				}
				return model.Done
			}
			if action == "resume" {
				a.Ask(`{"action":"resume` + change)
			} else {
				ask[api.Survey](a, startPublish+`}`)
			}
			minutes := c.work()
			wg.Wait()
			if left := a.of("acme"); left > 0 || minutes > 3 {
				t.Errorf("%s: %d events are left, after %d minutes: %+v", action, left, minutes, a.Token("t").Job)
			}
		})
	}
}

// A job that was stopped and resumed while a pass went on takes no end for the queue's, and passes no further until
// looks are over again.
func TestHandler_workJobs_doesNotEndWhereItWasStoppedInBetween(t *testing.T) {
	for name, change := range map[string]func(row *model.JobRow){
		"stopped": func(row *model.JobRow) { row.State = job.Stopped },
		"resumed": func(row *model.JobRow) { row.RunsFrom = time.Now() },
	} {
		inLetters(t, 0, func(a *account) {
			a.Reject(rejected.Event{MessageID: "1", EventID: "e1", Body: good, Reason: "not_processed"})
			time.Sleep(time.Second)
			ask[api.Survey](a, startPublish+`}`)
			time.Sleep(job.LooksOver)
			a.Verdict = func(c *model.Call) model.Verdict {
				if strings.HasPrefix(c.Name, "Receive") {
					a.Mu.Lock()
					defer a.Mu.Unlock()
					row := a.Token("t")
					change(&row)
					a.Jobs[row.ID] = row
				}
				return model.Done
			}
			a.wake()
			a.Verdict = nil
			if j := a.Token("t"); j.State == job.Done || j.Done != 1 || j.Progress.Pages != 1 {
				t.Errorf("%s: %+v", name, j.Job)
			}
		})
	}
}

// wakeSlowly wakes replay. The invocation may fail if its receives take too long.
func (c *crowd) wakeSlowly() { _, _ = c.Within(timeout, `{"action":"work_jobs","operator":"release"}`) }

// of counts the rejected events of a tenant.
func (a *account) of(tenant string) (n int) {
	a.RejectedQueue.Each(func(m events.SQSMessage, _ time.Duration, _ int) {
		if rejected.TenantOf(rejected.Event{Body: m.Body}) == tenant {
			n++
		}
	})
	return n
}
