package api

import "github.com/herald-webhooks/herald/internal/rules/circuit"

// State is the state of an endpoint in a word. A stop hides the state of the circuit under it.
type State string

// The states of endpoints.
const (
	StateHealthy    State = "healthy"
	StateFailing          = State(circuit.Failing)    // its last attempts failed; deliveries are still sent
	StateOpen             = State(circuit.Open)       // it keeps failing: deliveries are held, and probes are sent
	StateRecovering       = State(circuit.Recovering) // it answers again: what was held is sent at a growing pace
	StateFlapping   State = "flapping"                // it takes some deliveries and fails others
	StatePaused     State = "paused"                  // an operator has paused the endpoint, or its tenant
	StateDisabled   State = "disabled"                // its owner has disabled it
	StateDeleted    State = "deleted"                 // its owner has deleted it
	StateUnreadable State = "unreadable"              // its row, or its tenant's marks, are damaged: nothing is sent to it

	// StateRated is no trouble: more was published than the endpoint's limit lets through.
	StateRated State = "waiting for its rate"
)

// States are all states of endpoints.
func States() []State {
	return []State{
		StateFailing, StateFlapping, StateOpen, StateRecovering, StateDisabled, StatePaused, StateHealthy, StateRated,
		StateDeleted, StateUnreadable,
	}
}

// Untroubled reports whether nothing is wrong with an endpoint in this state. An endpoint that waits for its rate gets
// as many deliveries as its limit allows.
func (s State) Untroubled() bool { return s == StateHealthy || s == StateRated }
