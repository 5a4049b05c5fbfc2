package invariants

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/health"
)

// probed lets three runs of release at a time, call by call, with every tenth call a fault, look
// after an open endpoint for an hour, while another one goes on receiving.
func probed(t *testing.T, seed uint64, answer receiver) (w *walker) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		random := rand.New(rand.NewPCG(seed, 0))
		w = &walker{world: newWorld(), visit: func(string) {}}
		w.own("webhook_ok", 200)
		w.own("webhook_open", 500)
		w.receivers["webhook_open"] = answer
		w.have(w.open("webhook_open"))
		for range 20 { // in one shard, in which the first is the oldest
			for backlog.Shard(w.following()) != backlog.Shard("msg_001") {
				w.unique++
			}
			w.parked("webhook_open", 0, true, nil)
			time.Sleep(time.Second)
		}
		well := w.process("well", random)
		w.judgeBy(func(c *call) verdict {
			if c.process == well {
				return done
			}
			return w.gate(c)
		})
		for range 60 {
			minute := time.Now().Add(time.Minute)
			for range crowd {
				w.start("release runs", (*process).tick)
			}
			for w.running.Load() > 0 {
				calls := w.waiting()
				if len(calls) == 0 {
					time.Sleep(time.Second)
					continue
				}
				v := done
				if random.IntN(10) == 0 {
					v = faults[random.IntN(len(faults))]
				}
				calls[random.IntN(len(calls))].grant <- v
			}
			w.publish("webhook_ok")
			for time.Now().Before(minute) {
				well.receive(w.deliveries)
				well.receive(w.retries)
				time.Sleep(5 * time.Second)
			}
		}
	})
	return w
}

func seeds() (n uint64) {
	switch {
	case budgetOf(0) > 0:
		return 300
	case slow:
		return 3
	}
	return 15
}

// Whatever happens to the runs of release, an open endpoint gets one POST an interval, and others all of theirs.
func TestProbes_areOneAnInterval(t *testing.T) {
	t.Parallel()
	least := health.Default().Probe * 9 / 10
	for seed := range seeds() {
		w := probed(t, seed, answers(500))
		w.mustHold(t, fmt.Sprint("seed ", seed))
		others, posts := 0, []time.Time{}
		for _, p := range w.posts {
			if p.endpointID == "webhook_ok" {
				others++
				continue
			}
			if n := len(posts); n > 0 && p.at.Sub(posts[n-1]) < least-10*time.Second { // as often as messages are received here
				t.Errorf("seed %d: a POST %s after the one before\n%s", seed, p.at.Sub(posts[n-1]), strings.Join(w.history, "\n"))
			}
			posts = append(posts, p.at)
		}
		if others != 60 || len(posts) < 3 || len(posts) > 16 {
			t.Errorf("seed %d: %d deliveries to the other endpoint, %d probes in an hour", seed, others, len(posts))
		}
	}
}

// A delivery that its receiver never takes does not keep an endpoint closed that takes all others.
func TestProbes_getPastAPoisonousOldestItem(t *testing.T) {
	t.Parallel()
	for n := range seeds() {
		seed := 20 + n // among the first are some with which all probes but the first would be made with it
		w := probed(t, seed, func(id string) int {
			if id == "msg_001" {
				return 500
			}
			return 200
		})
		w.mustHold(t, fmt.Sprint("seed ", seed))
		delivered := 0
		for _, about := range w.truth {
			if about.acked && about.endpointID == "webhook_open" {
				delivered++
			}
		}
		if delivered != 19 {
			t.Errorf("seed %d: %d of 19 delivered in an hour\n%s", seed, delivered, strings.Join(w.history, "\n"))
		}
	}
}
