package inspect

import (
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

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
func (v healthView) show(f invoke.Found, w dynamo.Waiting) api.Health {
	i, marks := f.Circuit, f.Endpoint.Marks
	if !marks.Paused() {
		marks.PausedBy = f.Tenant.PausedBy
		marks.PauseReason = f.Tenant.PauseReason
	}
	shown := api.Health{
		State: v.state(f), Since: f.Since(), Failures: i.Failures, FailingSince: i.FailingSince,
		OutageSince: i.OutageSince, LastFailureAt: i.Last.At, LastStatus: i.Last.Status,
		LastReason: delivery.Reason(i.Last.Reason), LastProbeAt: i.ProbedAt, RecoveredAt: i.RecoveredAt,
		PausedBy: marks.PausedBy, PauseReason: marks.PauseReason,
		DiscardedBefore: f.Endpoint.DiscardedBefore(f.Tenant),
	}
	switch {
	case f.State() != api.StateOpen:
	case w.Items == 0:
		shown.Note = noteNoProbe
	default:
		shown.NextProbeAt = i.NextProbe(v.settings)
	}
	if ok, tried := i.Recent.Share(v.now()); tried > 0 {
		shown.Recent = &api.Recent{Attempts: tried, Successes: ok}
	}
	return shown
}

// waiting shows how much waits for an endpoint, and until when it is kept.
func (v healthView) waiting(w dynamo.Waiting) api.Waiting {
	shown := api.Waiting{Count: w.Items, Held: w.Held, More: w.More, OldestCreatedAt: w.Oldest}
	if !w.Oldest.IsZero() {
		shown.KeptUntil = w.Oldest.Add(v.maxLife)
	}
	return shown
}

func (v healthView) state(f invoke.Found) api.State { return f.Shown(v.now()) }
