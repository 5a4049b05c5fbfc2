package inspect

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Summary is how the whole stands. The counts of queues are SQS's approximations.
type Summary struct {
	DeadLetters map[deadletter.Status]Count `json:"dead_letters"`
	Queues      map[string]Depth            `json:"queues"` // by logical id
}

// Count is how many dead letters have one status, and when the longest dead of them died.
type Count struct {
	Count        int        `json:"count"`
	OldestDiedAt *time.Time `json:"oldest_died_at"`
}

// Depth is what a queue holds.
type Depth struct {
	Visible  int `json:"visible"`
	InFlight int `json:"in_flight"` // received, or invisible until a retry
	Delayed  int `json:"delayed"`
}

func (h *Handler) summary(ctx context.Context, _ *operator.Call, _ struct{}) (Summary, error) {
	s := Summary{DeadLetters: map[deadletter.Status]Count{}, Queues: map[string]Depth{}}
	for _, status := range []deadletter.Status{deadletter.Dead, deadletter.Replaying, deadletter.Replayed} {
		n, oldest, err := h.DeadLetters.Count(ctx, status)
		if err != nil {
			return Summary{}, err
		}
		s.DeadLetters[status] = Count{Count: n, OldestDiedAt: timeOrNull(oldest)}
	}
	names := make([]string, 0, len(h.Queues))
	for name := range h.Queues {
		names = append(names, name)
	}
	depths := make([]Depth, len(names))
	for _, err := range parallel.Each(len(names), len(names), func(i int) (err error) {
		depths[i], err = h.depth(ctx, h.Queues[names[i]])
		return err
	}) {
		if err != nil {
			return Summary{}, err
		}
	}
	for i, name := range names {
		s.Queues[name] = depths[i]
	}
	return s, nil
}

func (h *Handler) depth(ctx context.Context, url string) (Depth, error) {
	out, err := h.Meter.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: aws.String(url),
		AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages,
			types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
			types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
		},
	})
	if err != nil {
		return Depth{}, fmt.Errorf("measuring a queue: %w", err)
	}
	var d Depth
	for name, to := range map[types.QueueAttributeName]*int{
		types.QueueAttributeNameApproximateNumberOfMessages:           &d.Visible,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible: &d.InFlight,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed:    &d.Delayed,
	} {
		if *to, err = strconv.Atoi(out.Attributes[string(name)]); err != nil {
			return Depth{}, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return d, nil
}

// RejectedEvent is one event on EventsDeadLetterQueue.
type RejectedEvent struct {
	MessageID string     `json:"message_id"`
	EventID   string     `json:"event_id"`
	Reason    string     `json:"reason"`
	SentAt    *time.Time `json:"sent_at"`
	Bytes     int        `json:"bytes"`
	Body      *string    `json:"body"` // null when the answer has no room for it
}

// maxBodies bounds the bodies in one answer, in bytes: Lambda answers at most 6 MB, and JSON
// can double a body.
const maxBodies = 2 << 20

type rejectedRequest struct {
	Limit *int `json:"limit"`
}

// rejectedEvents shows what waits on EventsDeadLetterQueue. A queue has no pages: there is no
// cursor, and next_cursor is always null.
func (h *Handler) rejectedEvents(ctx context.Context, call *operator.Call, req rejectedRequest) (operator.List[RejectedEvent], error) {
	limit, err := operator.Page{Limit: req.Limit}.Size()
	if err != nil {
		return operator.List[RejectedEvent]{}, err
	}
	events, err := h.look(ctx, limit)
	h.putBack(ctx, events)
	if err != nil {
		return operator.List[RejectedEvent]{}, err
	}
	call.Note(slog.Int(telemetry.KeyCount, len(events)))
	return operator.NewList(showRejected(events), "", ""), nil
}

// look receives up to limit events; those received before a fault come with it.
func (h *Handler) look(ctx context.Context, limit int) (events []rejected.Event, err error) {
	for len(events) < limit {
		some, err := h.Rejected.Receive(ctx, limit-len(events))
		if err != nil || len(some) == 0 {
			return events, err
		}
		events = append(events, some...)
	}
	return events, nil
}

// putBack makes what was received visible again, whatever became of ctx meanwhile.
func (h *Handler) putBack(ctx context.Context, events []rejected.Event) {
	restoring, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := h.Rejected.Restore(restoring, events); err != nil {
		h.Log.WarnContext(ctx, "rejected events stay hidden for a minute", telemetry.KeyError, err.Error())
	}
}

func showRejected(events []rejected.Event) []RejectedEvent {
	slices.SortStableFunc(events, func(a, b rejected.Event) int { return a.SentAt.Compare(b.SentAt) })
	shown := make([]RejectedEvent, len(events))
	room := maxBodies
	for i, e := range events {
		shown[i] = RejectedEvent{MessageID: e.MessageID, EventID: e.EventID, Reason: e.Reason, SentAt: timeOrNull(e.SentAt), Bytes: len(e.Body)}
		if len(e.Body) <= room {
			room -= len(e.Body)
			shown[i].Body = &e.Body
		}
	}
	return shown
}
