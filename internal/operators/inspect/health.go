package inspect

import (
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Health tells why an endpoint gets no deliveries.
type Health struct {
	// One of the states of circuits, flapping, or a reason why nothing is sent at all.
	State string `json:"state"`

	// Since when it is in this state.
	Since time.Time `json:"since"`

	// Failures in a row since failing_since.
	Failures     int       `json:"failures"`
	FailingSince time.Time `json:"failing_since"`

	// The first failure since the last 2xx of a healthy endpoint.
	OutageSince   time.Time `json:"outage_since"`
	LastFailureAt time.Time `json:"last_failure_at"`

	// The status of the last failure. 0 means that there was no response.
	LastStatus int `json:"last_status"`

	// The reason of the last failure, as of an attempt.
	LastReason string `json:"last_reason"`

	// Null where nothing was counted.
	Recent *Recent `json:"recent"`

	// The last probe of an open circuit. Null before the first.
	LastProbeAt time.Time `json:"last_probe_at"`

	// The next probe of an open circuit. Null where nothing waits.
	NextProbeAt time.Time `json:"next_probe_at"`

	// The beginning of the last recovery.
	RecoveredAt time.Time `json:"recovered_at"`

	// The operator who paused the endpoint or its tenant, with the reason that they gave.
	PausedBy    string `json:"paused_by"`
	PauseReason string `json:"pause_reason"`

	// Deliveries with a life that began earlier are discarded.
	DiscardedBefore time.Time `json:"discarded_before"`

	// Why no probe is sent.
	Note string `json:"note,omitzero"`
}

// Recent counts the attempts of the last ten minutes, as far as they were stored with failures.
type Recent struct {
	Attempts  int `json:"attempts"`
	Successes int `json:"successes"`
}

// noteNoProbe is the note of an open circuit without a backlog.
const noteNoProbe = "nothing waits for the endpoint, so it is not probed: its next delivery will be the probe"

// healthView tells how endpoints stand. It reads nothing: its inputs are rows and counts.
type healthView struct {
	// When endpoints are probed.
	settings circuit.Settings

	// The longest life of a delivery that waits.
	maxLife time.Duration

	now func() time.Time
}

// show shows an endpoint's health. Why it is paused is the endpoint's own reason, or else its tenant's.
func (v healthView) show(f invoke.Found, w dynamo.Waiting) Health {
	i, marks := f.Circuit, f.Endpoint.Marks
	if !marks.Paused() {
		marks.PausedBy = f.Tenant.PausedBy
		marks.PauseReason = f.Tenant.PauseReason
	}
	shown := Health{
		State: v.state(f), Since: f.Since(), Failures: i.Failures, FailingSince: i.FailingSince,
		OutageSince: i.OutageSince, LastFailureAt: i.Last.At, LastStatus: i.Last.Status, LastReason: i.Last.Reason,
		LastProbeAt: i.ProbedAt, RecoveredAt: i.RecoveredAt, PausedBy: marks.PausedBy, PauseReason: marks.PauseReason,
		DiscardedBefore: f.Endpoint.DiscardedBefore(f.Tenant),
	}
	switch {
	case f.State() != string(circuit.Open):
	case w.Items == 0:
		shown.Note = noteNoProbe
	default:
		shown.NextProbeAt = i.NextProbe(v.settings)
	}
	if ok, tried := i.Recent.Share(v.now()); tried > 0 {
		shown.Recent = &Recent{Attempts: tried, Successes: ok}
	}
	return shown
}

// Waiting is an endpoint's part of Backlog, counted up to 1,000.
type Waiting struct {
	// How many deliveries wait.
	Count int `json:"count"`

	// How many of them wait for the endpoint, and not for their schedule.
	Held int `json:"held"`

	// There are more than were counted.
	More bool `json:"more"`

	// When the oldest of them was created.
	OldestCreatedAt time.Time `json:"oldest_created_at"`

	// The end of the oldest one's life. It is later if that one was replayed.
	KeptUntil time.Time `json:"kept_until"`
}

// waiting shows how much waits for an endpoint, and until when it is kept.
func (v healthView) waiting(w dynamo.Waiting) Waiting {
	shown := Waiting{Count: w.Items, Held: w.Held, More: w.More, OldestCreatedAt: w.Oldest}
	if !w.Oldest.IsZero() {
		shown.KeptUntil = w.Oldest.Add(v.maxLife)
	}
	return shown
}

// stateFlapping hides failing and healthy, between which a flapping endpoint changes with each answer.
const stateFlapping = "flapping"

// flappingAttempts is the fewest attempts of ten minutes that tell a flapping endpoint from an unlucky one.
const flappingAttempts = 10

// recently is the time that circuit.Recent covers.
const recently = 10 * time.Minute

// untroubled reports whether nothing is wrong with an endpoint in a state. One that waits for its rate gets as many
// deliveries as its limit allows.
func untroubled(state string) bool {
	return state == invoke.StateHealthy || state == invoke.StateRated
}

// state is the endpoint's state in a word. It flaps if between 10 and 90 % of its recent attempts succeeded. After a
// recovery, the failures among them belong to the outage.
func (v healthView) state(f invoke.Found) string {
	state := f.State()
	ok, tried := f.Circuit.Recent.Share(v.now())
	mixed := tried >= flappingAttempts && 10*ok >= tried && 10*ok <= 9*tried
	recovered := v.now().Sub(f.Circuit.RecoveredAt) < recently
	if mixed && !recovered && (untroubled(state) || state == string(circuit.Failing)) {
		return stateFlapping
	}
	return state
}
