package deliver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// answersAfter answers 2xx after a time.
func answersAfter(d time.Duration) func(context.Context, string) delivery.Response {
	return func(context.Context, string) delivery.Response {
		time.Sleep(d)
		return delivery.Response{Status: 200, Elapsed: d}
	}
}

func TestHandler_Process_chargesATenantForTheTimeItKeepsABatch(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{ // twice the excess: half a second a second is paid for
		3 * time.Second:          0,
		5 * time.Second:          2 * 2 * time.Second,
		14500 * time.Millisecond: 2 * 11500 * time.Millisecond,
	} {
		t.Run(took.String(), func(t *testing.T) {
			in(t, answersAfter(took), func(w *rig) {
				began := time.Now()
				w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_2"))
				charged := time.Duration(0)
				if !w.slowUntil().IsZero() {
					charged = w.slowUntil().Sub(began)
				}
				if charged -= firstCharge(took); want > 0 && charged != want || want == 0 && !w.slowUntil().IsZero() {
					w.Errorf("charged %s, want %s", charged, want)
				}
			})
		})
	}
}

// firstCharge is when the first charge is made: slow_until counts from there.
func firstCharge(took time.Duration) time.Duration { return min(took, 6*time.Second) }

func TestHandler_Process_chargesWhileItLasts(t *testing.T) {
	in(t, hangs, func(w *rig) {
		w.process(w.fresh("e1", "webhook_1"))
		want := []time.Duration{6 * time.Second, 12 * time.Second, 15 * time.Second}
		if diff := cmp.Diff(want, w.charged); diff != "" {
			w.Errorf("charged (-want +got):\n%s", diff)
		}
	})
}

func TestHandler_Process_setsASlowTenantAside(t *testing.T) {
	in(t, hangs, func(w *rig) {
		h := w.handler()
		var processes sync.WaitGroup
		for n := range 3 {
			processes.Go(func() { w.processBy(w.handler(), w.fresh(fmt.Sprint("e", n), "webhook_1")) })
		}
		processes.Wait()
		if until := time.Until(w.slowUntil()); until < 6*time.Hour {
			w.Fatalf("three batches that hang are charged up to %s from now", until)
		}
		posts := len(w.posts)
		w.sent["Slow"] = nil
		w.processBy(h, w.fresh("aside", "webhook_2"))
		w.processBy(h, w.retried("aside, too", "webhook_2", 4))
		places := map[string]int{}
		for _, m := range w.sent["Slow"] {
			places[m.EventID] = m.Attempts
		}
		want := map[string]int{"aside": 0, "aside, too": 4}
		if diff := cmp.Diff(want, places); diff != "" || len(w.posts) != posts {
			w.Errorf("%d POSTs, places used on SlowQueue (-want +got):\n%s", len(w.posts)-posts, diff)
		}
		if !w.logged("reason=tenant_slow", "next_attempt_s=0") {
			w.Errorf("the log does not say that they go on at once: %s", w.logs)
		}
	})
}

func TestHandler_Process_setsAsideBeforeTheOthersEnd(t *testing.T) {
	in(t, hangs, func(w *rig) {
		w.slow()
		w.opened(time.Minute)
		probe := message("probe", "webhook_1")
		probe.Life = delivery.Life{StartedAt: w.born, Probe: time.Now()}
		began := time.Now()
		var sentAfter time.Duration
		go func() {
			time.Sleep(time.Second)
			w.aws.Mu.Lock()
			defer w.aws.Mu.Unlock()
			if len(w.sent["Slow"]) == 1 {
				sentAfter = time.Since(began)
			}
		}()
		w.processBy(w.handler(), w.on("retry", 1, probe), w.retried("aside", "webhook_2", 1))
		if sentAfter != time.Second || len(w.posts) != 1 {
			w.Errorf("%d POSTs; within a second %v of the others were sent on", len(w.posts), sentAfter)
		}
	})
}
