// Package next says how an operator goes on: the acts that make sense for an endpoint in its state, and which endpoints
// take a replay.
//
// It asks nothing and does nothing. The command line and the console offer the same steps by it.
package next

import (
	"fmt"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Takes reports whether an endpoint in this state gets replayed deliveries at once. One that waits for its rate gets as
// much as its limit lets through.
func Takes(state api.State) bool {
	switch state {
	case api.StateHealthy, api.StateFlapping, api.StateRecovering, api.StateRated:
		return true
	default: // and a state of a later version
		return false
	}
}

// Holds reports whether replayed deliveries to an endpoint in this state wait with the others.
func Holds(state api.State) bool {
	switch state {
	case api.StateOpen, api.StatePaused, api.StateDisabled, api.StateUnreadable:
		return true
	default:
		return false
	}
}

// Health orders states: an outage is worse than a stop on purpose.
func Health(state api.State) int {
	switch {
	case state == api.StateOpen:
		return 0
	case Takes(state):
		return 3
	case state == api.StateFailing: // everything is attempted
		return 2
	}
	return 1
}

// Acts that [Of] offers: those of control by their names, and replays and purges of the dead letters.
var (
	Pause   = api.Pause.Name
	Resume  = api.Resume.Name
	Release = api.Release.Name
	Test    = api.SendTest.Name
)

// The acts that are no actions of control by the same name.
const (
	ResumeTenant = "resume_tenant"
	Replay       = string(job.Replay)
	Purge        = string(job.Purge)
)

// Step is an act that makes sense now.
type Step struct {
	Act string

	// A warning before the act, "" where it needs none.
	Warning string
}

// Situation is an endpoint as its acts see it.
type Situation struct {
	State        api.State
	TenantPaused bool // by a mark of its tenant, which is lifted there
	Waiting      int  // deliveries
	Dead         bool // it has dead letters
}

// SituationOf is the situation of an endpoint as inspect shows it.
func SituationOf(e api.Endpoint, dead bool) Situation {
	return Situation{State: e.Health.State, TenantPaused: e.TenantPaused, Waiting: e.Waiting.Count, Dead: dead}
}

// Of are the steps for an endpoint, the likeliest first, each of which its function takes in that state.
func Of(s Situation) []Step {
	var steps []Step
	switch s.State {
	case api.StatePaused:
		steps = s.paused()
	case api.StateDisabled, api.StateUnreadable: // its owner, or a repair, comes first
	case api.StateDeleted:
		return s.letters(Purge)
	case api.StateRated: // a release would send it no more
		steps = []Step{{Act: Test}, {Act: Pause}}
	case api.StateOpen:
		steps = append(s.release(), Step{Act: Pause})
	default:
		steps = append(steps, Step{Act: Test})
		steps = append(append(steps, s.release()...), Step{Act: Pause})
	}
	if Takes(s.State) {
		return append(s.letters(Replay), steps...)
	}
	return append(steps, s.letters(Replay)...)
}

func (s Situation) paused() []Step {
	if s.TenantPaused {
		return []Step{{Act: ResumeTenant, Warning: "This is a pause of the whole tenant."}}
	}
	return []Step{{Act: Resume}}
}

func (s Situation) release() []Step {
	if s.Waiting == 0 {
		return nil
	}
	return []Step{{Release, fmt.Sprintf(
		"Sending what waits makes %s at once, and each uses one of its ten attempts: make sure that the receiver works.",
		Number(s.Waiting, "delivery", "deliveries"))}}
}

// letters is the step of an act on the endpoint's dead letters, with the warning that a replay needs. Without dead
// letters there is no step.
func (s Situation) letters(act string) []Step {
	if !s.Dead {
		return nil
	}
	return []Step{{act, s.ReplayWarning(act)}}
}

// ReplayWarning warns of a replay that would wait or fail, "" where it would be sent at once.
func (s Situation) ReplayWarning(act string) string {
	switch {
	case act != Replay:
		return ""
	case s.State == api.StateFailing:
		return "The endpoint is failing: a delivery that is replayed now may die again."
	case s.State == api.StateDeleted:
		return "The endpoint is deleted: nothing can be sent to it."
	case !Holds(s.State):
		return ""
	}
	return fmt.Sprintf("The endpoint is %s: a delivery that is replayed now is not sent, and waits with the %s.",
		s.State, Number(s.Waiting, "other that waits", "others that wait"))
}

// Number is a count with its noun.
func Number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
