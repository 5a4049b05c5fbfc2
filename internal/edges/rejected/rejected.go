// Package rejected is the operators' access to EventsDeadLetterQueue: events that fanout
// refused, with their reasons, and events that SQS moved there because fanout kept failing.
//
// It promises that looking consumes nothing: messages that were received and not deleted are made visible again, at
// the latest when their short visibility timeout ends. It never deletes on its own account.
package rejected

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// The message attributes of fanout's rejections.
const (
	attributeMessageID = "message_id" // as the publisher was told
	attributeEventID   = "event_id"
	attributeReason    = "reason"
)

// maxReason keeps the attributes of a rejected event of 256 KiB within the queue's size.
const maxReason = 512

// Message is the message under which a refused event is kept: as it came, with the reason.
func Message(e Event) queue.Outgoing {
	attributes := map[string]types.MessageAttributeValue{}
	for name, value := range map[string]string{
		attributeMessageID: e.MessageID,
		attributeEventID:   e.EventID,
		attributeReason:    e.Reason[:min(len(e.Reason), maxReason)],
	} {
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	return queue.Outgoing{Body: e.Body, Attributes: attributes, Trace: e.Trace}
}

// Event is one message of the queue.
type Event struct {
	MessageID string // that SendMessage to EventsQueue returned
	EventID   string // the publisher's, or the message id where it gave none
	Reason    string
	Body      string
	SentAt    time.Time // to this queue; of a redriven message, to EventsQueue
	Trace     trace.Context
	receipt   string
}

// Client is the part of the SQS client that Queue calls.
type Client interface {
	queue.VisibilityChanger
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
}

// Queue is EventsDeadLetterQueue.
type Queue struct {
	Client Client
	URL    string
}

// Briefly is longer than an operator function runs: one invocation sees each event once.
const Briefly = time.Minute

// A look of inspect receives events for LookTime. It hides each event for Glance, which is longer, so that it meets no
// event twice. Everything that it has hidden is visible again within their sum, which is less than job.LooksOver.
const (
	LookTime = 10 * time.Second
	Glance   = 20 * time.Second
)

// SQS hands out at most ten messages in a call. The wait makes it ask all its servers: an
// empty answer then means an empty queue.
const (
	receiveBatch = 10
	receiveWait  = 1 // seconds
)

// Receive returns at most `most` events, and never more than ten. They stay hidden for the given time unless they are
// restored before. An empty result means the queue is empty.
func (q Queue) Receive(ctx context.Context, most int, hidden time.Duration) ([]Event, error) {
	out, err := q.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:              aws.String(q.URL),
		MaxNumberOfMessages:   int32(min(most, receiveBatch)),     //nolint:gosec // at most ten
		VisibilityTimeout:     int32(math.Ceil(hidden.Seconds())), // not shown before a request ends that may publish it
		WaitTimeSeconds:       receiveWait,
		MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameSentTimestamp, types.MessageSystemAttributeNameDeadLetterQueueSourceArn,
			types.MessageSystemAttributeNameAWSTraceHeader,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("receiving rejected events: %w", err)
	}
	events := make([]Event, len(out.Messages))
	for i, m := range out.Messages {
		events[i] = eventOf(m)
	}
	return events, nil
}

// eventOf reads a message of the queue. A message that SQS moved there has its publisher's attributes, under any
// names; only fanout's own messages have fanout's.
func eventOf(m types.Message) Event {
	attributes := m.MessageAttributes
	if _, moved := m.Attributes[string(types.MessageSystemAttributeNameDeadLetterQueueSourceArn)]; moved {
		attributes = nil
	}
	text := func(name string) string { return aws.ToString(attributes[name].StringValue) }
	e := Event{
		MessageID: cmp.Or(text(attributeMessageID), aws.ToString(m.MessageId)), // redrive keeps it
		EventID:   text(attributeEventID),
		Reason:    cmp.Or(text(attributeReason), event.NotProcessed), // it reached the queue by redrive
		Body:      aws.ToString(m.Body),
		Trace:     queue.TraceIn(m),
		receipt:   aws.ToString(m.ReceiptHandle),
	}
	if e.EventID == "" {
		e.EventID = idOf(e)
	}
	sent := m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)]
	if ms, err := strconv.ParseInt(sent, 10, 64); err == nil {
		e.SentAt = time.UnixMilli(ms).UTC()
	}
	return e
}

// idOf is the id that the event itself has, or the message's.
func idOf(e Event) string {
	decoded, err := event.Decode([]byte(e.Body), e.MessageID)
	if invalid, ok := errors.AsType[*event.Invalid](err); ok {
		return invalid.EventID
	}
	return decoded.ID
}

// restoreTime bounds Restore.
const restoreTime = 5 * time.Second

// Restore makes received events visible at once, even if ctx has ended.
func (q Queue) Restore(ctx context.Context, events []Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	changes := make([]queue.VisibilityChange, len(events))
	for i, e := range events {
		changes[i] = queue.VisibilityChange{ReceiptHandle: e.receipt}
	}
	return errors.Join(queue.Visibility{Client: q.Client, URL: q.URL}.ChangeVisibility(ctx, changes)...)
}

// Delete takes a received event off the queue for good.
func (q Queue) Delete(ctx context.Context, e Event) error {
	_, err := q.Client.DeleteMessage(ctx, &sqs.DeleteMessageInput{
		QueueUrl: aws.String(q.URL), ReceiptHandle: aws.String(e.receipt),
	})
	if err != nil {
		return fmt.Errorf("deleting a rejected event: %w", err)
	}
	return nil
}

// Selected reports whether s selects the event, by tenant, its id, a part of the reason and time.
func (e Event) Selected(s job.Selector) bool {
	return (s.TenantID == "" || s.TenantID == TenantOf(e)) && (s.EventID == "" || s.EventID == e.EventID) &&
		strings.Contains(e.Reason, s.Reason) &&
		!e.SentAt.Before(s.Since) && (s.Until.IsZero() || e.SentAt.Before(s.Until))
}

// TenantOf is the tenant that an event names, or "". The message may not be an event at all, so the field may hold
// anything.
func TenantOf(e Event) string {
	var named struct {
		TenantID string `json:"tenant_id"`
	}
	if err := json.Unmarshal([]byte(e.Body), &named); err != nil || !event.ValidTenantID(named.TenantID) {
		return ""
	}
	return named.TenantID
}

// maxType is longer than any name of a type that can be published.
const maxType = 64

// TypeOf is the type that an event names, known or not, or "". A text that is too long for one is no type.
func TypeOf(e Event) string {
	var named struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(e.Body), &named); err != nil || len(named.Type) > maxType {
		return ""
	}
	return named.Type
}
