package inspect

import (
	"context"
	"errors"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// Summary is an overview of endpoints in trouble, the backlog, queues and dead letters.
type Summary struct {
	Endpoints   EndpointCounts                    `json:"endpoints"`
	Waiting     Backlogged                        `json:"waiting"`
	DeadLetters map[deadletter.Status]LetterCount `json:"dead_letters"`

	// By logical id.
	Queues map[string]Depth `json:"queues"`

	// Causes of death, on request.
	Causes *Causes `json:"causes,omitzero"`
}

// Backlogged is the backlog of all endpoints together, at least.
type Backlogged struct {
	Count int `json:"count"`

	// How many of them wait for their endpoints, and not for their schedules.
	Held int `json:"held"`

	// There are more than were counted.
	More bool `json:"more"`

	// A time long past means that release does not run.
	NextDueAt time.Time `json:"next_due_at"`
}

// LetterCount is how many dead letters have one status, and when the oldest of them died.
type LetterCount struct {
	Count int `json:"count"`

	// Null where there are none.
	OldestDiedAt time.Time `json:"oldest_died_at"`
}

// summaryRequest asks for a Summary.
type summaryRequest struct {
	// Causes adds the causes of death of all dead letters. To ask for them together reads the letters once.
	Causes bool `json:"causes"`
}

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
func (o overview) summary(ctx context.Context, _ *invoke.Call, req summaryRequest) (s Summary, err error) {
	var total dynamo.Total
	err = together(
		func() (err error) { s.Endpoints, err = o.trouble.count(ctx); return err },
		func() (err error) { total, err = o.waiting.total(ctx); return err },
		func() (err error) { s.DeadLetters, s.Causes, err = o.countLetters(ctx, req.Causes); return err },
		func() (err error) { s.Queues, err = o.queues.depths(ctx); return err },
	)
	if err != nil {
		return Summary{}, err
	}
	s.Waiting = Backlogged{Count: total.Items, Held: total.Held, More: total.More, NextDueAt: total.NextDue}
	return s, nil
}

// together does everything at the same time, and has all errors.
func together(all ...func() error) error {
	return errors.Join(parallel.Each(len(all), len(all), func(n int) error { return all[n]() })...)
}

// countLetters counts the dead letters of each status, and by cause on request.
func (o overview) countLetters(
	ctx context.Context, withCauses bool,
) (counts map[deadletter.Status]LetterCount, causes *Causes, err error) {
	statuses := []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed}
	found := make([]LetterCount, len(statuses))
	errs := parallel.Each(len(statuses), len(statuses), func(n int) (err error) {
		if withCauses && statuses[n] == deadletter.Dead {
			found[n], causes, err = o.countDead(ctx)
			return err
		}
		found[n], err = o.count(ctx, statuses[n])
		return err
	})
	counts = map[deadletter.Status]LetterCount{}
	for n, status := range statuses {
		counts[status] = found[n]
	}
	return counts, causes, errors.Join(errs...)
}

// count counts the dead letters of a status.
func (o overview) count(ctx context.Context, status deadletter.Status) (LetterCount, error) {
	n, oldest, err := o.letters.Count(ctx, job.Selector{Status: string(status)})
	return LetterCount{Count: n, OldestDiedAt: oldest}, err
}

// countDead counts the dead letters and their causes. It reads them once, or a second time if there are more than
// causes are counted in.
func (o overview) countDead(ctx context.Context) (LetterCount, *Causes, error) {
	died, err := o.causes.latest(ctx, job.Selector{Status: string(deadletter.Dead)})
	if err != nil {
		return LetterCount{}, nil, err
	}
	causes, err := o.causes.causes(ctx, died)
	if err != nil {
		return LetterCount{}, nil, err
	}
	if died.more {
		counted, err := o.count(ctx, deadletter.Dead)
		return counted, &causes, err
	}
	counted := LetterCount{Count: len(died.letters)}
	if counted.Count > 0 {
		counted.OldestDiedAt = died.letters[counted.Count-1].DiedAt
	}
	return counted, &causes, nil
}
