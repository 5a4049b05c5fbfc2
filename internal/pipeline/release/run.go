package release

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
)

// ErrBlind is returned for a run that could not see its work.
var ErrBlind = errors.New("neither the endpoints in trouble nor the due deliveries could be read in full")

// Run does the work that there is now. It stops a tenth of its time before ctx's deadline, and leaves the
// rest to the next run.
//
// It takes an inventory of the work, shares its time among the kinds of work, and stores the results. Each part returns
// its counts, and Run alone adds them up and writes them.
func (h *Handler) Run(ctx context.Context) error {
	began := h.Now()
	until := h.until(ctx)
	var run counts
	note := func(did counts) { run = h.add(ctx, run, did) }

	// Replay is woken first: it works for as long as this run does, and ends before the next.
	note(failed("waking replay", h.Wake(ctx)))

	found := takeInventory(ctx, h.Circuits, h.Backlog, began, began.Add(h.Settings.Ahead))
	note(found.did)
	circuits := circuitWriter{table: h.Circuits, log: h.Log}
	planner := planner{endpoints: h.Endpoints, circuits: circuits, settings: h.Settings, now: h.Now}
	troubles, planned := planner.plan(ctx, found.troubled)
	note(planned)

	work := h.workers(began, found, troubles, circuits)
	share(ctx, h.Now, until, note,
		work.due.send, work.due.bury, work.probes.send, work.recoveries.send, work.paces.send,
		work.sweeps.goOn)

	owners := teller{bus: h.Bus, contacts: h.Contacts, circuits: circuits, now: h.Now}
	end := conclusions{circuits: circuits, ends: h.Circuits, owners: owners, settings: h.Settings, now: h.Now}
	searches := slices.Concat(work.recoveries.searches, work.paces.searches, work.sweeps.searches)
	note(end.conclude(ctx, troubles, searches, found.slowUntil))
	note(work.due.unsent())

	runLog{log: h.Log, metrics: h.Metrics}.write(ctx, run, h.Now().Sub(began), found.blind)
	if found.blind {
		return ErrBlind
	}
	return nil
}

// until is the end of the run's work.
func (h *Handler) until(ctx context.Context) time.Time {
	now := h.Now()
	deadline, ok := ctx.Deadline()
	if !ok {
		return now.Add(h.Settings.Run)
	}
	return deadline.Add(-deadline.Sub(now) / 10)
}

// add adds a piece of work to the counts of a run, and logs its faults at once, so that a run which is killed has told
// them. Of the faults of each step, only the run's first goes to the log: a table that refuses everything would fill
// it.
func (h *Handler) add(ctx context.Context, run, did counts) counts {
	for _, step := range slices.Sorted(maps.Keys(did.faults)) {
		if _, known := run.faults[step]; !known {
			h.Log.LogAttrs(ctx, slog.LevelError, "fault", telemetry.Cause(did.faults[step].first),
				slog.String(telemetry.KeyAction, step), slog.String(telemetry.KeyFault, "internal"))
		}
	}
	return run.plus(did)
}
