package inspect

import (
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Health tells why an endpoint gets no deliveries.
type Health struct {
	State           string    `json:"state"`
	Since           time.Time `json:"since"`
	Failures        int       `json:"failures"` // in a row, since failing_since
	FailingSince    time.Time `json:"failing_since"`
	OutageSince     time.Time `json:"outage_since"` // first failure since the last 2xx of a healthy endpoint
	LastFailureAt   time.Time `json:"last_failure_at"`
	LastStatus      int       `json:"last_status"` // of the last failure; 0: no response
	LastReason      string    `json:"last_reason"`
	Recent          *Recent   `json:"recent"`        // null where nothing was counted
	LastProbeAt     time.Time `json:"last_probe_at"` // of an open circuit; null before the first
	NextProbeAt     time.Time `json:"next_probe_at"` // of an open circuit with a backlog
	RecoveredAt     time.Time `json:"recovered_at"`  // beginning of the last recovery
	PausedBy        string    `json:"paused_by"`
	PauseReason     string    `json:"pause_reason"`
	DiscardedBefore time.Time `json:"discarded_before"`
	Note            string    `json:"note,omitzero"` // why no probe is sent
}

// Recent counts the attempts of the last ten minutes, as far as they were stored with failures.
type Recent struct {
	Attempts  int `json:"attempts"`
	Successes int `json:"successes"`
}

// noteNoProbe is the note of an open circuit without a backlog.
const noteNoProbe = "nothing waits for the endpoint, so it is not probed: its next delivery will be the probe"

func (h *Handler) showHealth(f operator.Found, w dynamo.Waiting) Health {
	i, marks := f.Circuit, f.Endpoint.Marks
	if !marks.Paused() {
		marks.PausedBy, marks.PauseReason = f.Tenant.PausedBy, f.Tenant.PauseReason
	}
	shown := Health{
		State: h.state(f), Since: f.Since(), Failures: i.Failures, FailingSince: i.FailingSince,
		OutageSince: i.OutageSince, LastFailureAt: i.Last.At, LastStatus: i.Last.Status, LastReason: i.Last.Reason,
		LastProbeAt: i.ProbedAt, RecoveredAt: i.RecoveredAt, PausedBy: marks.PausedBy, PauseReason: marks.PauseReason,
		DiscardedBefore: f.Endpoint.DiscardedBefore(f.Tenant),
	}
	switch {
	case f.State() != string(circuit.Open):
	case w.Items == 0:
		shown.Note = noteNoProbe
	default:
		shown.NextProbeAt = i.NextProbe(h.Settings)
	}
	if ok, tried := i.Recent.Share(h.Now()); tried > 0 {
		shown.Recent = &Recent{Attempts: tried, Successes: ok}
	}
	return shown
}

// Waiting is an endpoint's part of Backlog, counted up to 1,000.
type Waiting struct {
	Count           int       `json:"count"`
	Held            int       `json:"held"` // of them wait for the endpoint and not for their schedule
	More            bool      `json:"more"` // there are more than were counted
	OldestCreatedAt time.Time `json:"oldest_created_at"`
	KeptUntil       time.Time `json:"kept_until"` // end of the oldest one's life; later if it was replayed
}

func (h *Handler) showWaiting(w dynamo.Waiting) Waiting {
	shown := Waiting{Count: w.Items, Held: w.Held, More: w.More, OldestCreatedAt: w.Oldest}
	if !w.Oldest.IsZero() {
		shown.KeptUntil = w.Oldest.Add(h.MaxLife)
	}
	return shown
}

// stateFlapping hides failing and healthy, between which a flapping endpoint changes with each answer.
const stateFlapping = "flapping"

// flappingAttempts is the fewest attempts of ten minutes that tell a flapping endpoint from an unlucky one.
const flappingAttempts = 10

// recently is the time that circuit.Recent covers.
const recently = 10 * time.Minute

// state is the endpoint's state in a word. It flaps if between 10 and 90 % of its recent attempts succeeded. After a
// recovery, the failures among them belong to the outage.
func (h *Handler) state(f operator.Found) string {
	state := f.State()
	ok, tried := f.Circuit.Recent.Share(h.Now())
	mixed := tried >= flappingAttempts && 10*ok >= tried && 10*ok <= 9*tried
	recovered := h.Now().Sub(f.Circuit.RecoveredAt) < recently
	if mixed && !recovered && (state == operator.StateHealthy || state == string(circuit.Failing)) {
		return stateFlapping
	}
	return state
}
