// Package next says how an operator goes on: the acts that make sense for an endpoint in its state, and which endpoints
// take a replay.
//
// It asks nothing and does nothing. The command line and the console offer the same steps by it.
package next

import (
	"fmt"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// paced is the state of an endpoint that gets as much as its limit lets through. A release would send it no more.
const paced = "waiting for its rate"

// taking are the states of endpoints that get replayed deliveries at once.
var taking = []any{"healthy", "flapping", "recovering", paced}

// Takes reports whether an endpoint in this state gets replayed deliveries at once.
func Takes(state any) bool { return slices.Contains(taking, state) }

// Holds reports whether replayed deliveries to an endpoint in this state wait with the others.
func Holds(state any) bool {
	return slices.Contains([]any{"open", "paused", "disabled", "unreadable"}, state)
}

// Health orders states: an outage is worse than a stop on purpose.
func Health(state any) int {
	switch {
	case state == "open":
		return 0
	case Takes(state):
		return 3
	case state == "failing": // everything is attempted
		return 2
	}
	return 1
}

// Acts that [Of] offers: those of control by their names, and replays and purges of the dead letters.
const (
	Pause        = "pause"
	Resume       = "resume"
	ResumeTenant = "resume_tenant"
	Release      = "release"
	Test         = "test"
	Replay       = "replay"
	Purge        = "purge"
)

// Step is an act that makes sense now.
type Step struct {
	Act string

	// A warning before the act, "" where it needs none.
	Warning string
}

// Situation is an endpoint as its acts see it.
type Situation struct {
	State        string
	TenantPaused bool // by a mark of its tenant, which is lifted there
	Waiting      int  // deliveries
	Dead         bool // it has dead letters
}

// SituationOf reads the answer of inspect about an endpoint.
func SituationOf(e answers.Row, dead bool) Situation {
	state, _ := answers.At(e, "health.state").(string)
	return Situation{
		State: state, TenantPaused: e["tenant_paused"] == true,
		Waiting: int(answers.Number(e, "waiting.count")), Dead: dead,
	}
}

// Of are the steps for an endpoint, the likeliest first, each of which its function takes in that state.
func Of(s Situation) []Step {
	var steps []Step
	switch s.State {
	case "paused":
		steps = s.paused()
	case "disabled", "unreadable": // its owner, or a repair, comes first
	case "deleted":
		return s.letters(Purge)
	case paced:
		steps = []Step{{Act: Test}, {Act: Pause}}
	case "open":
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
	case s.State == "failing":
		return "The endpoint is failing: a delivery that is replayed now may die again."
	case s.State == "deleted":
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
