package inspect

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// overview counts everything.
type overview struct {
	trouble troubleCounter
	waiting waitingCounter
	letters DeadLetters
	causes  causeList
	queues  queueMeter
}

// summary counts endpoints in trouble, the backlog, dead letters and queues, all at the same time.
// It fails where one of them cannot be counted: a summary without them would look like a quiet night.
func (o overview) summary(ctx context.Context, _ *invoke.Call, req api.SummaryRequest) (s api.Summary, err error) {
	var total dynamo.Total
	err = together(
		func() (err error) { s.Endpoints, err = o.trouble.count(ctx); return err },
		func() (err error) { total, err = o.waiting.total(ctx); return err },
		func() (err error) { s.DeadLetters, s.Causes, err = o.countLetters(ctx, req.Causes); return err },
		func() (err error) { s.Queues, err = o.queues.depths(ctx); return err },
	)
	if err != nil {
		return api.Summary{}, err
	}
	s.Waiting = api.Backlogged{Count: total.Items, Held: total.Held, More: total.More, NextDueAt: total.NextDue}
	s.FIPSModule = config.FIPSModule()
	return s, nil
}

// together does everything at the same time, and has all errors.
func together(all ...func() error) error {
	return errors.Join(parallel.Each(len(all), len(all), func(n int) error { return all[n]() })...)
}

// countLetters counts the dead letters of each status, and by cause on request.
func (o overview) countLetters(
	ctx context.Context, withCauses bool,
) (counts map[deadletter.Status]api.LetterCount, causes *api.Causes, err error) {
	statuses := []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed}
	found := make([]api.LetterCount, len(statuses))
	errs := parallel.Each(len(statuses), len(statuses), func(n int) (err error) {
		if withCauses && statuses[n] == deadletter.Dead {
			found[n], causes, err = o.countDead(ctx)
			return err
		}
		found[n], err = o.count(ctx, statuses[n])
		return err
	})
	counts = map[deadletter.Status]api.LetterCount{}
	for n, status := range statuses {
		counts[status] = found[n]
	}
	return counts, causes, errors.Join(errs...)
}

// count counts the dead letters of a status.
func (o overview) count(ctx context.Context, status deadletter.Status) (api.LetterCount, error) {
	n, oldest, err := o.letters.Count(ctx, job.Selector{Status: string(status)})
	return api.LetterCount{Count: n, OldestDiedAt: oldest}, err
}

// countDead counts the dead letters and their causes. It reads them once, or a second time if there are more than
// causes are counted in.
func (o overview) countDead(ctx context.Context) (api.LetterCount, *api.Causes, error) {
	died, err := o.causes.latest(ctx, job.Selector{Status: string(deadletter.Dead)})
	if err != nil {
		return api.LetterCount{}, nil, err
	}
	causes, err := o.causes.causes(ctx, died)
	if err != nil {
		return api.LetterCount{}, nil, err
	}
	if died.more {
		counted, err := o.count(ctx, deadletter.Dead)
		return counted, &causes, err
	}
	counted := api.LetterCount{Count: len(died.letters)}
	if counted.Count > 0 {
		counted.OldestDiedAt = died.letters[counted.Count-1].DiedAt
	}
	return counted, &causes, nil
}
