package async_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
)

// answer is what one invocation comes to.
type answer struct {
	result function.Result
	err    error
}

var (
	succeeds  = answer{result: function.Result{Payload: []byte(`{}`)}}
	fails     = answer{result: function.Result{Payload: []byte(`{"errorMessage":"no"}`), Error: "Unhandled"}}
	throttled = answer{err: function.ErrThrottled}
	closed    = answer{err: errors.New("function is shut down")}
)

// scripted gives its answers in turn, the last one for ever, and notes when it was asked.
type scripted struct {
	mu      sync.Mutex
	began   time.Time
	answers []answer
	at      []time.Duration // in the time of AWS
}

func (s *scripted) Invoke(context.Context, []byte) (function.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, (time.Since(s.began) * (time.Minute / async.Minute)).Round(time.Millisecond))
	next := s.answers[0]
	s.answers = s.answers[min(1, len(s.answers)-1):]
	return next.result, next.err
}

func TestInvoker_Send(t *testing.T) {
	t.Parallel()
	const m, s = time.Minute, time.Second
	usual := async.Settings{MaximumRetryAttempts: async.DefaultRetryAttempts, MaximumEventAge: async.DefaultEventAge}
	for name, test := range map[string]struct {
		settings  async.Settings
		answers   []answer
		at        []time.Duration // of each invocation
		discarded string          // what the log says, empty for nothing
	}{
		"a success is the end":                    {usual, []answer{succeeds}, []time.Duration{0}, ""},
		"a failure is tried again after a minute": {usual, []answer{fails, succeeds}, []time.Duration{0, m}, ""},
		"the second retry waits two minutes and is the last": {
			usual, []answer{fails}, []time.Duration{0, m, 3 * m}, "its invocations failed",
		},
		"no retries are none": {
			async.Settings{MaximumEventAge: m}, []answer{fails}, []time.Duration{0}, "its invocations failed",
		},
		"a throttled event waits longer each time and uses no retry": {
			async.Settings{MaximumEventAge: m}, []answer{throttled, throttled, throttled, succeeds},
			[]time.Duration{0, s, 3 * s, 7 * s}, "",
		},
		"an event that grows too old while throttled is discarded": {
			async.Settings{MaximumEventAge: m}, []answer{throttled},
			[]time.Duration{0, s, 3 * s, 7 * s, 15 * s, 31 * s}, "older than MaximumEventAgeInSeconds",
		},
		"a retry that would come too late is not waited for": {
			async.Settings{MaximumRetryAttempts: 2, MaximumEventAge: 2 * m}, []answer{fails},
			[]time.Duration{0, m}, "older than MaximumEventAgeInSeconds",
		},
		"a function that is shut down gets nothing more": {usual, []answer{closed}, []time.Duration{0}, "shut down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				f := &scripted{began: time.Now(), answers: test.answers}
				i := &async.Invoker{
					Settings: test.settings, Name: "f", Function: f, Log: slog.New(slog.NewTextHandler(&log, nil)),
				}
				i.Send(t.Context(), []byte(`{}`))
				i.Wait()
				if diff := cmp.Diff(test.at, f.at); diff != "" {
					t.Errorf("invocations (-want +got):\n%s", diff)
				}
				if got := log.String(); (test.discarded == "") != (got == "") || !strings.Contains(got, test.discarded) {
					t.Errorf("log %q, want %q", got, test.discarded)
				}
			})
		})
	}
}

func TestInvoker_Send_waitsForNoOtherEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &scripted{began: time.Now(), answers: []answer{fails, fails, succeeds}}
		i := &async.Invoker{
			Settings: async.Settings{MaximumRetryAttempts: 1, MaximumEventAge: time.Hour},
			Name:     "f", Function: f, Log: slog.New(slog.DiscardHandler),
		}
		i.Send(t.Context(), nil)
		i.Send(t.Context(), nil)
		i.Wait()
		if diff := cmp.Diff([]time.Duration{0, 0, time.Minute, time.Minute}, f.at); diff != "" {
			t.Errorf("invocations (-want +got):\n%s", diff)
		}
	})
}

func TestInvoker_Send_isGivenUpWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := &scripted{began: time.Now(), answers: []answer{throttled}}
		i := &async.Invoker{
			Settings: async.Settings{MaximumEventAge: async.DefaultEventAge},
			Name:     "f", Function: f, Log: slog.New(slog.DiscardHandler),
		}
		i.Send(ctx, nil)
		time.Sleep(async.Minute)
		cancel()
		i.Wait()
		if took := time.Since(f.began); took != async.Minute {
			t.Errorf("it ended after %s", took)
		}
	})
}
