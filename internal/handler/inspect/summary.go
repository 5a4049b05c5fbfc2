package inspect

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Summary is an overview of endpoints in trouble, the backlog, queues and dead letters.
type Summary struct {
	Endpoints   EndpointCounts                    `json:"endpoints"`
	Waiting     Backlogged                        `json:"waiting"`
	DeadLetters map[deadletter.Status]LetterCount `json:"dead_letters"`

	// By logical id.
	Queues map[string]Depth `json:"queues"`
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

// overview counts everything.
type overview struct {
	trouble troubleCounter
	waiting waitingCounter
	letters DeadLetters
	queues  queueMeter
}

// summary counts endpoints in trouble, the backlog, dead letters and queues.
// It fails where one of them cannot be counted: a summary without them would look like a quiet night.
func (o overview) summary(ctx context.Context, _ *operator.Call, _ struct{}) (Summary, error) {
	endpoints, err := o.trouble.count(ctx)
	if err != nil {
		return Summary{}, err
	}
	total, err := o.waiting.total(ctx)
	if err != nil {
		return Summary{}, err
	}
	letters, err := o.countLetters(ctx)
	if err != nil {
		return Summary{}, err
	}
	queues, err := o.queues.depths(ctx)
	if err != nil {
		return Summary{}, err
	}
	waiting := Backlogged{Count: total.Items, Held: total.Held, More: total.More, NextDueAt: total.NextDue}
	return Summary{Endpoints: endpoints, Waiting: waiting, DeadLetters: letters, Queues: queues}, nil
}

// countLetters counts the dead letters of each status.
func (o overview) countLetters(ctx context.Context) (map[deadletter.Status]LetterCount, error) {
	counts := map[deadletter.Status]LetterCount{}
	for _, status := range []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed} {
		n, oldest, err := o.letters.Count(ctx, job.Selector{Status: string(status)})
		if err != nil {
			return nil, err
		}
		counts[status] = LetterCount{Count: n, OldestDiedAt: oldest}
	}
	return counts, nil
}
