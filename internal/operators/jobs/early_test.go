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

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// A job publishes with the next wake, and what stays on the queue is back at once. Since an earlier look may hide an
// event, the job does not end before all looks are over.
func TestHandler_workJobs_publishesAtOnceAndEndsWhenLooksAreOver(t *testing.T) {
	// A request of replay hides events until its invocation must end. There is a margin for reads and clocks.
	longest := max(rejected.LookTime+rejected.Glance, time.Minute) + 10*time.Second
	if longest > job.LooksOver {
		t.Errorf("events may be hidden for %s, jobs end after %s", longest, job.LooksOver)
	}
	inLetters(t, 0, func(a *account) {
		a.Reject(eventsOf(2, func(n int) string { return []string{"acme", "other"}[n] })...) // one is refused
		for n := range 9 {
			a.Reject(rejected.Event{
				MessageID: "m" + strconv.Itoa(n), EventID: "e" + strconv.Itoa(n), Body: good, Reason: "not_processed",
			})
		}
		time.Sleep(time.Second)
		ask[api.Survey](a, startPublish+`}`)
		want := func(when string, state job.State) {
			t.Helper()
			j := a.Token("t")
			sent, left := len(operatortest.Bodies(a.EventsQueue)), a.RejectedQueue.Visible()
			if j.State != state || j.Done != 9 || j.Refused["invalid_event"] != 1 || sent != 9 || left != 2 {
				t.Errorf("%s: %+v, %d are sent, %d are left", when, j.Job, sent, left)
			}
		}
		a.wake()
		want("at the next wake", job.Running)
		time.Sleep(job.LooksOver - time.Since(a.Token("t").RunsFrom) - time.Millisecond)
		a.wake()
		want("a moment before looks are over", job.Running)
		change := `_job","operator":"ann","job_id":"` + job.ID("t") + `"}`
		a.Ask(`{"action":"stop` + change)
		time.Sleep(time.Hour)
		a.Ask(`{"action":"resume` + change)
		a.wake()
		want("when it is resumed", job.Running)
		time.Sleep(job.LooksOver)
		a.wake()
		want("when looks are over", job.Done)
	})
}

// A second pass that meets the end too early goes on behind the first: what that has counted is hidden, and counts.
func TestHandler_workJobs_countsWhatAnEarlyPassHasPassed(t *testing.T) {
	const n = 5_000
	inLetters(t, 0, func(a *account) {
		a.Reject(eventsOf(n, func(int) string { return "acme" })...) // all are refused
		time.Sleep(time.Second)
		ask[api.Survey](a, startPublish+`}`)
		a.Verdict = func(c *model.Call) model.Verdict {
			if strings.HasPrefix(c.Name, "Receive ") { // an invocation passes 4,000
				time.Sleep(100 * time.Millisecond)
			}
			return model.Done
		}
		done, minutes := a.finish("t")
		if done.Refused["invalid_event"] != n || minutes != 3 {
			t.Errorf("after %d minutes: %+v", minutes, done.Progress)
		}
	})
}

// takers are the requests of operators about a job's own events: looks, publishes and discards by id.
var takers = []string{
	`{"action":"rejected_events","operator":"eve","tenant_id":"acme"}`,
	`{"action":"rejected_events","operator":"eve","message_ids":["0","3","6","9"]}`,
	`{"action":"discard_rejected_events","operator":"eve","message_ids":["1","4","7","10"],"confirm":true}`,
}

// A job makes its first pass while looks, publishes and discards from before its start are under way. None of its
// events is lost, none is left out, and none is published twice.
func TestNoEventOfAJobIsLostOrPublishedTwiceBesideEarlierRequests(t *testing.T) {
	acts := map[string]int{} // of requests, while a job's first pass was to come
	for seed := range uint64(24) {
		inLetters(t, 0, func(a *account) { playTakers(a, seed, acts) })
	}
	if acts["discarded"] == 0 || acts["replayed"] == 0 {
		t.Errorf("requests did nothing beside a job: %v", acts)
	}
}

func playTakers(a *account, seed uint64, acts map[string]int) {
	const n = 24
	c := &crowd{account: a, rng: rand.New(rand.NewPCG(seed, 2))}
	c.slow = []time.Duration{time.Millisecond, time.Second, 4 * time.Second, 20 * time.Second}[seed%4]
	discarded := map[string]bool{}
	for id := range n {
		a.Reject(rejected.Event{
			MessageID: strconv.Itoa(id), EventID: fmt.Sprint("e", id), Body: good, Reason: "not_processed",
		})
	}
	time.Sleep(time.Second)
	a.Verdict = c.judge
	ctx, stop := context.WithCancel(a.Context())
	var wg sync.WaitGroup
	for _, request := range takers {
		wg.Go(func() {
			for ctx.Err() == nil {
				c.take(request, discarded, acts)
				time.Sleep(c.upTo(time.Second))
			}
		})
	}
	time.Sleep(c.upTo(10 * time.Second))
	for a.TokenNow("t").State == "" {
		_, _ = a.Within(timeout, startPublish+`}`)
	}
	time.Sleep(c.upTo(time.Second))
	minutes := 0
	for ; minutes < 60 && a.TokenNow("t").State != job.Done; minutes++ {
		next := time.Now().Add(time.Minute)
		c.wakeSlowly()
		time.Sleep(time.Until(next))
	}
	stop()
	wg.Wait()
	published := map[string]int{}
	for _, body := range operatortest.Bodies(a.EventsQueue) {
		e, err := event.Decode([]byte(body), "")
		if err != nil {
			a.Fatal(err)
		}
		published[e.ID]++
	}
	for id := range n {
		sent, gone := published[fmt.Sprint("e", id)], discarded[strconv.Itoa(id)]
		if sent > 1 || sent == 0 && !gone || sent > 0 && gone {
			a.Errorf("seed %d: event %d is published %d times, discarded: %t", seed, id, sent, gone)
		}
	}
	if left := a.RejectedQueue.Stored(); left > 0 {
		a.Errorf("seed %d: %d events are left after %d minutes: %+v", seed, left, minutes, a.TokenNow("t").Job)
	}
}

// take makes a request of a new process, and notes what it says that it discarded.
func (c *crowd) take(request string, discarded map[string]bool, acts map[string]int) {
	p := c.Process("bystander")
	h := handler(c.account.Account, p).Function()
	if request == takers[0] {
		h = (&inspect.Handler{
			Rejected: rejected.Queue{Client: p.Polled(c.RejectedQueue)}, Jobs: p.Jobs(), Audit: p.Audit(),
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
		}).Function()
	}
	p.Invoke(timeout, func(ctx context.Context) {
		out, _ := h.Invoke(operatortest.ForGood(ctx), []byte(request))
		started := c.TokenNow("t").State != "" // while the request was under way
		c.Mutex.Lock()
		defer c.Mutex.Unlock()
		for _, result := range []string{"discarded", "replayed"} {
			if started {
				acts[result] += strings.Count(string(out), `"result":"`+result+`"`)
			}
		}
		for id := range 24 {
			if strings.Contains(string(out), fmt.Sprintf(`{"message_id":"%d","event_id":"e%[1]d","result":"discarded"`, id)) {
				discarded[strconv.Itoa(id)] = true
			}
		}
	}, func() {})
}
