// Package follow follows the log of attempts for a page, at a price for each minute.
//
// It promises that at most one session runs, that a session ends after 15 minutes by the clock, when nobody has looked
// for 30 seconds, and with the console, and that nothing but Start begins one.
package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// The bounds of a session.
const (
	Longest  = 15 * time.Minute
	Patience = 30 * time.Second // without anybody who looks
	Kept     = 200              // the latest attempts
)

// Log follows the log of attempts until ctx ends ([stack.Stack.Tail]).
type Log func(ctx context.Context, of stack.Tailed, each func(stack.Lines)) error

// Tail is the sessions of a console, one at a time.
type Tail struct {
	log Log
	now func() time.Time

	mu      sync.Mutex
	closed  bool
	session session
	stop    context.CancelCauseFunc // of the session, nil while none runs
	done    chan struct{}           // closed when the session is over
	minutes int                     // of the sessions before
}

// session is what one session has shown.
type session struct {
	of                  stack.Tailed
	begun, looked, over time.Time
	attempts            []stack.Attempt
	count               int
	sampled             bool
	why                 error
}

// New returns a tail of a log.
func New(log Log, now func() time.Time) *Tail { return &Tail{log: log, now: now} }

// Why a session ends, other than by a fault.
var (
	errGone    = fmt.Errorf("its page was not open for %d seconds", int(Patience/time.Second))
	errLong    = fmt.Errorf("it may take %d minutes at most", int(Longest/time.Minute))
	errStopped = errors.New("somebody ended it here")
	errClosed  = errors.New("the console is closing")
)

// ErrRunning refuses a second session.
var ErrRunning = errors.New("attempts are being followed already, perhaps in another tab: end that first")

// Start begins a session. It does not end with ctx.
func (t *Tail) Start(ctx context.Context, of stack.Tailed) error {
	if err := of.Check(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return errClosed
	case t.stop != nil:
		return ErrRunning
	}
	t.minutes += t.session.minutes(t.session.over)
	now := t.clock()
	t.session = session{of: of, begun: now, looked: now}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	t.stop, t.done = stop, make(chan struct{})
	go t.watch(ctx, stop)
	go t.follow(ctx, of)
	return nil
}

// clock is the time of day. A machine that sleeps stops the monotonic clock, and AWS's goes on.
func (t *Tail) clock() time.Time { return t.now().Round(0) }

// follow takes what the log says, until the session ends.
func (t *Tail) follow(ctx context.Context, of stack.Tailed) {
	err := t.log(ctx, of, t.take)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop(nil)
	t.stop = nil
	close(t.done)
	t.session.over, t.session.why = t.clock(), err
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		t.session.why = cause
	}
}

// watch ends the session when its time is over, or when nobody has looked for too long.
func (t *Tail) watch(ctx context.Context, stop context.CancelCauseFunc) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		t.mu.Lock()
		now, s := t.clock(), t.session
		t.mu.Unlock()
		switch {
		case now.Sub(s.begun) >= Longest:
			stop(errLong)
		case now.Sub(s.looked) >= Patience:
			stop(errGone)
		}
	}
}

// take keeps the attempts of some lines.
func (t *Tail) take(lines stack.Lines) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.session
	s.sampled = s.sampled || lines.Sampled
	for _, text := range lines.Texts {
		if a, is := stack.ReadAttempt(text); is {
			s.attempts = append(s.attempts, a)
			s.count++
		}
	}
	s.attempts = slices.Clone(s.attempts[max(0, len(s.attempts)-Kept):])
}

// Stop ends the session that runs.
func (t *Tail) Stop() { t.end(errStopped) }

// Close ends the session that runs, and lets none begin.
func (t *Tail) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.end(errClosed)
}

// ending is how long a session may take to end.
const ending = 5 * time.Second

// end ends the session that runs, and waits until it has.
func (t *Tail) end(why error) {
	t.mu.Lock()
	stop, done := t.stop, t.done
	t.mu.Unlock()
	if stop == nil {
		return
	}
	stop(why)
	select {
	case <-done:
	case <-time.After(ending):
	}
}
