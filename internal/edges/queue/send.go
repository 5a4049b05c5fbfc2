package queue

import (
	"context"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// BatchSender is the part of the SQS client that Sender calls.
type BatchSender interface {
	SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options)) (
		*sqs.SendMessageBatchOutput, error)
}

// Sender sends messages to one queue.
type Sender struct {
	Client BatchSender
	URL    string

	// Events says that the messages are events. A trace of theirs is always the publisher's, so none is sent of the
	// invocation. Deliveries tell the two apart, and Lambda counts a chain by its own.
	Events bool
}

// Outgoing is one message to send.
type Outgoing struct {
	Body string

	// Group is the MessageGroupId, which makes a standard queue fair; "" stands for none.
	Group string

	Attributes map[string]types.MessageAttributeValue

	// Trace is the message's alone, whatever is sent with it.
	Trace trace.Context

	// Delay is at most 900 s, and is rounded up to whole seconds.
	Delay time.Duration
}

// Of makes a delivery message ready to send after delay. Its group is its tenant: to
// fair queues, the failing endpoints of one tenant are one noisy neighbour and not many quiet ones.
func Of(m delivery.Message, delay time.Duration) Outgoing {
	return Outgoing{Body: string(m.Body), Group: m.TenantID, Attributes: Attributes(m), Trace: m.Trace, Delay: delay}
}

// ToRetry makes a delivery message ready to be sent to RetryQueue or SlowQueue after delay. It removes the reason,
// because only messages that Herald sends to DeadLetterQueue have one: a dead letter without a reason was moved there
// by SQS.
func ToRetry(m delivery.Message, delay time.Duration) Outgoing {
	m.Life.Reason, m.Life.Status = "", 0
	return Of(m, delay)
}

// Send sends the messages in calls of at most ten and 1 MiB. The answer has one entry per message: a message has an
// error unless SQS confirmed it. A message that is too large for any call gets a call by itself, and SQS's refusal as
// its error. Nothing is sent again here: a sender that does not know whether SQS took a message must decide that
// itself.
func (s Sender) Send(ctx context.Context, messages []Outgoing) []error {
	end := func(from int) int {
		to, size := from, 0
		for to < len(messages) && to-from < maxBatch && (to == from || size+messages[to].size() <= maxBatchBytes) {
			size += messages[to].size()
			to++
		}
		return to
	}
	return inBatches("sending to SQS", len(messages), end, func(from, to int) (answers, error) {
		return s.sendBatch(ctx, messages[from:to])
	})
}

// sendBatch makes one call. Its error is about the call as a whole; the answers are about the entries.
func (s Sender) sendBatch(ctx context.Context, messages []Outgoing) (answers, error) {
	entries := make([]types.SendMessageBatchRequestEntry, len(messages))
	for i, m := range messages {
		entries[i] = types.SendMessageBatchRequestEntry{
			Id:                entryID(i),
			MessageBody:       aws.String(m.Body),
			MessageAttributes: m.Attributes,
			DelaySeconds:      seconds(m.Delay),
		}
		if m.Group != "" {
			entries[i].MessageGroupId = aws.String(m.Group)
		}
		if header := m.Trace.XRay(); header != "" {
			entries[i].MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
				systemTrace: {DataType: aws.String("String"), StringValue: aws.String(header)},
			}
		}
	}
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String(s.URL), Entries: entries}
	var options []func(*sqs.Options)
	if s.Events {
		options = append(options, withoutTraceOfCall)
	}
	out, err := s.Client.SendMessageBatch(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	answered := answers{}
	for _, entry := range out.Successful {
		answered[aws.ToString(entry.Id)] = nil
	}
	answered.fail(out.Failed)
	return answered, nil
}

// withoutTraceOfCall leaves out the header that the SDK sends in Lambda, with the trace of the invocation. SQS gives it
// to each message of the call that has no trace: up to ten tenants' events would be of one.
func withoutTraceOfCall(o *sqs.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		id := (&awsmiddleware.RecursionDetection{}).ID()
		if _, found := stack.Build.Get(id); !found {
			return nil
		}
		_, err := stack.Build.Remove(id)
		return err
	})
}

// size counts as SQS does: body, and names, types and values of the attributes.
func (m Outgoing) size() int {
	n := len(m.Body)
	for name, a := range m.Attributes {
		n += len(name) + len(aws.ToString(a.DataType)) + len(aws.ToString(a.StringValue))
	}
	return n
}

// seconds rounds up: a wait is never early.
func seconds(d time.Duration) int32 {
	return int32(math.Ceil(max(d, 0).Seconds()))
}
