package follow

import (
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// State is a session as it is now, or as it was.
type State struct {
	Of                 stack.Tailed
	Running            bool
	Begun, Ends        time.Time // zero before the first session
	Over               time.Time
	Attempts           []stack.Attempt // the latest, the newest first
	Count              int             // of all
	Sampled            bool            // AWS has left some out
	Why                error           // it has ended
	Minutes, AllOfThem int             // begun in it, and in all sessions of the console
}

// Look returns the session, and keeps one that runs alive.
func (t *Tail) Look() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, s := t.clock(), &t.session
	s.looked = now
	shown := State{
		Of: s.of, Running: t.stop != nil, Begun: s.begun, Over: s.over, Attempts: slices.Clone(s.attempts), Count: s.count,
		Sampled: s.sampled, Why: s.why, AllOfThem: t.minutes,
	}
	slices.Reverse(shown.Attempts)
	if !s.begun.IsZero() {
		shown.Ends = s.begun.Add(Longest)
		until := s.over
		if shown.Running {
			until = now
		}
		shown.Minutes = s.minutes(until)
		shown.AllOfThem += shown.Minutes
	}
	return shown
}

// minutes are those that have begun by then.
func (s session) minutes(until time.Time) int {
	if s.begun.IsZero() {
		return 0
	}
	return int(max(until.Sub(s.begun), 1)+time.Minute-1) / int(time.Minute)
}
