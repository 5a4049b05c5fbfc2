package deliver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
)

// Whatever fails, a delivery is somewhere when its message is acknowledged, and what came from
// RetryQueue is sent to no queue but DeadLetterQueue: Lambda's recursion detection counts chains.
func TestHandler_Process_losesNothingAndSendsNothingFromRetryQueueToIt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 4_000 {
		answer := []int{200, 204, 301, 404, 429, 500, 503}[r.IntN(7)]
		w := newWorld(func(context.Context, string) delivery.Response {
			return delivery.Response{Status: answer, Reason: delivery.StatusReason(answer), RetryAfter: "700"}
		})
		for _, err := range []*error{&w.readErr, &w.secretErr, &w.sendErr, &w.deadErr, &w.parkErr, &w.holdErr, &w.stateErr} {
			if r.IntN(4) == 0 {
				*err = errAWS
			}
		}
		if r.IntN(4) == 0 {
			w.endpoints["webhook_1"] = disabled()
		}
		item := in([]health.State{health.Failing, health.Open, health.Recovering, health.Disabled}[r.IntN(4)])
		if item.Paused = r.IntN(4) == 0; r.IntN(2) == 0 {
			w.health["webhook_1"] = item
		}
		w.blind = r.IntN(8) == 0
		life := delivery.Life{StartedAt: born, Last: r.IntN(8) == 0, Probe: int64(r.IntN(2))}
		if r.IntN(2) == 0 {
			life.DiesAt = epoch.Add(time.Duration(r.IntN(200)-100) * time.Second)
		}
		one := living(fresh("a", "webhook_1"), r.IntN(11), 1+r.IntN(12), life)
		if r.IntN(3) == 0 {
			one = fresh("a", "webhook_1")
		}
		failed := w.process(t, one)
		if err := w.wrong(one, failed); err != nil {
			t.Fatalf("run %d, %+v: %v\ncalls %v, lines %v", n, life, err, w.calls, w.logs.lines)
		}
	}
}

// wrong says what must not have happened after a batch of one.
func (w *world) wrong(one events.SQSMessage, failed []string) error {
	ended := len(w.acked) == 1 || len(w.states) == 1 && w.states[0].State == delivery.Discarded
	places := len(w.sent) + len(w.dead) + len(w.parked) + len(failed)
	switch {
	case ended && places != 0, !ended && places != 1:
		return fmt.Errorf("the delivery is in %d places, ended %t", places, ended)
	case one.EventSourceARN == retryARN && len(w.sent) != 0:
		return errors.New("sent from RetryQueue to RetryQueue")
	case w.holdErr != nil && len(w.parked) == 1 && w.parked[0].Held && !w.health["webhook_1"].Held:
		return errors.New("held before the item exists")
	}
	for _, c := range w.hidden {
		if c.Wait < 0 || c.Wait > 900*time.Second {
			return fmt.Errorf("hidden for %s", c.Wait)
		}
	}
	return nil
}
