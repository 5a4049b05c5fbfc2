package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Summary is an overview of endpoints in trouble, the backlog, queues and dead letters. The counts of queues are
// SQS's approximations.
type Summary struct {
	Endpoints   EndpointCounts              `json:"endpoints"`
	Waiting     Backlogged                  `json:"waiting"`
	DeadLetters map[deadletter.Status]Count `json:"dead_letters"`
	Queues      map[string]Depth            `json:"queues"` // by logical id
}

// Count is how many dead letters have one status, and when the oldest of them died.
type Count struct {
	Count        int       `json:"count"`
	OldestDiedAt time.Time `json:"oldest_died_at"`
}

// Depth counts a queue's messages.
type Depth struct {
	Visible  int `json:"visible"`
	InFlight int `json:"in_flight"` // received, or invisible until a retry
	Delayed  int `json:"delayed"`
}

func (h *Handler) summary(ctx context.Context, _ *operator.Call, _ struct{}) (Summary, error) {
	s := Summary{DeadLetters: map[deadletter.Status]Count{}, Queues: map[string]Depth{}}
	var err error
	if s.Endpoints, err = h.countTrouble(ctx); err != nil {
		return Summary{}, err
	}
	total, err := h.Backlog.Total(ctx, maxDueShard)
	if err != nil {
		return Summary{}, err
	}
	s.Waiting = Backlogged{Count: total.Items, Held: total.Held, More: total.More, NextDueAt: total.NextDue}
	for _, status := range []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed} {
		n, oldest, err := h.DeadLetters.Count(ctx, job.Selector{Status: string(status)})
		if err != nil {
			return Summary{}, err
		}
		s.DeadLetters[status] = Count{Count: n, OldestDiedAt: oldest}
	}
	for name, url := range h.Queues {
		if s.Queues[name], err = h.depth(ctx, url); err != nil {
			return Summary{}, err
		}
	}
	return s, nil
}

func (h *Handler) depth(ctx context.Context, url string) (d Depth, err error) {
	counts := map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &d.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &d.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &d.Delayed,
	}
	out, err := h.Meter.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(url), AttributeNames: slices.Collect(maps.Keys(counts)),
	})
	if err != nil {
		return Depth{}, fmt.Errorf("measuring a queue: %w", err)
	}
	for name, count := range counts {
		if *count, err = strconv.Atoi(out.Attributes[string(name)]); err != nil {
			return Depth{}, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return d, nil
}
