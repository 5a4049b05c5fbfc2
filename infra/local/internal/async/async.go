// Package async invokes a function as Lambda does when nobody waits for the answer: for schedules and
// for the Invoke API's type Event.
//
// It promises Lambda's rules: an event whose invocation failed is tried again after one minute and then
// after two, MaximumRetryAttempts times at most; one that found no free process waits, longer each time,
// and uses no retry; an event older than MaximumEventAge is discarded. Events are independent: one that
// waits does not hold up another. It does not limit how many are under way; the function's concurrency does.
// Discarded events are logged: there are no destinations and no dead-letter queue.
package async

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

// Minute is what stands for a minute on the local stack, in the rates of schedules and in all that this
// package waits for, so that what takes an hour on AWS can be watched. Timeouts of functions and everything
// about queues keep AWS's own seconds.
const Minute = 5 * time.Second

// Scale returns how long d, as a template or AWS's documentation says it, lasts on the local stack.
func Scale(d time.Duration) time.Duration { return d / (time.Minute / Minute) }

// Lambda's own settings where there is no EventInvokeConfig.
const (
	DefaultRetryAttempts = 2
	DefaultEventAge      = 6 * time.Hour
)

// Settings are those of a function's EventInvokeConfig, in AWS's own time.
type Settings struct {
	MaximumRetryAttempts int
	MaximumEventAge      time.Duration
}

// Function is what is invoked.
type Function interface {
	Invoke(ctx context.Context, payload []byte) (function.Result, error)
}

// Invoker takes the asynchronous invocations of one function.
type Invoker struct {
	Settings
	Name     string
	Function Function
	Log      *slog.Logger

	under sync.WaitGroup
}

// Send takes an event and returns at once. What is under way or waits when ctx ends is given up.
func (i *Invoker) Send(ctx context.Context, payload []byte) {
	i.under.Go(func() {
		if reason := i.run(ctx, payload); reason != "" && ctx.Err() == nil {
			i.Log.Warn("asynchronous event discarded", "function", i.Name, "reason", reason)
		}
	})
}

// Wait returns when nothing is under way any more.
func (i *Invoker) Wait() { i.under.Wait() }

// run invokes until one invocation succeeds, or returns why the event is discarded.
func (i *Invoker) run(ctx context.Context, payload []byte) (discarded string) {
	expires := time.Now().Add(Scale(i.MaximumEventAge))
	backoff := time.Second
	for failures := 0; ; {
		result, err := i.Function.Invoke(ctx, payload)
		var wait time.Duration
		switch {
		case errors.Is(err, function.ErrThrottled):
			wait = backoff
			backoff = min(2*backoff, 5*time.Minute)
		case err != nil:
			return err.Error()
		case result.Error == "":
			return ""
		case failures == i.MaximumRetryAttempts:
			return "its invocations failed: " + string(result.Payload)
		default:
			failures++
			wait = time.Duration(failures) * time.Minute
		}
		next := time.Now().Add(Scale(wait))
		if next.After(expires) {
			return "it became older than MaximumEventAgeInSeconds"
		}
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return ctx.Err().Error()
		}
	}
}
