// Package publish publishes events to Herald's EventsQueue, in batches. It needs AWS's SDK alone: copy it.
package publish

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

const (
	maxBatch = 10         // messages that SQS takes in a request
	maxBytes = 256 * 1024 // that EventsQueue takes in a message; a request is kept below it as well
	tries    = 5
)

var (
	name   = regexp.MustCompile(`^[!-~]{1,128}$`) // the groups that SQS takes
	itsOwn = regexp.MustCompile("TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|Serialization")
)

// Message is an event that was encoded once and has an id, its tenant and its trace.
type Message struct {
	Body        string
	TenantID    string
	Traceparent string // "" without one
}

// NotSent is a message that SQS did not take, and the code that says why.
type NotSent struct {
	Message Message
	Reason  string
}

// Client is the part of an [sqs.Client] that sends.
type Client interface {
	SendMessageBatch(
		ctx context.Context, in *sqs.SendMessageBatchInput, options ...func(*sqs.Options),
	) (*sqs.SendMessageBatchOutput, error)
}

// Publisher publishes events to Herald.
type Publisher struct {
	Client    Client
	QueueURL  string        // of EventsQueue
	FirstWait time.Duration // before the second try, and twice as long before each further one; 0 is 100 ms
}

// Publish sends messages, and returns those that SQS did not take. A message that SQS would refuse is not sent, and all
// others are. After an error it is not known what was sent: send all again, the ids make it safe.
func (p Publisher) Publish(ctx context.Context, messages []Message) ([]NotSent, error) {
	var notSent []NotSent
	var good []Message
	for _, m := range messages {
		if reason := m.fault(); reason != "" {
			notSent = append(notSent, NotSent{m, reason})
			continue
		}
		good = append(good, m)
	}
	for _, batch := range batches(good) {
		refused, err := p.send(ctx, batch)
		if err != nil {
			return nil, err
		}
		notSent = append(notSent, refused...)
	}
	return notSent, nil
}

// send sends a batch until SQS has taken all that it takes, and returns the others.
func (p Publisher) send(ctx context.Context, left []Message) (notSent []NotSent, err error) {
	for attempt := 0; len(left) > 0; attempt++ {
		if err := p.wait(ctx, attempt); err != nil {
			return nil, err
		}
		in := &sqs.SendMessageBatchInput{QueueUrl: &p.QueueURL, Entries: entries(left)}
		out, err := p.Client.SendMessageBatch(ctx, in)
		if code := itsOwnCode(err); code != "" {
			alone, err := p.sendEach(ctx, left, code)
			return append(notSent, alone...), err
		}
		if err != nil {
			return nil, fmt.Errorf("sending events: %w", err)
		}
		var again []Message
		for _, failure := range out.Failed { // a request can succeed in part
			n, err := strconv.Atoi(aws.ToString(failure.Id))
			if err != nil || n < 0 || n >= len(left) {
				return nil, fmt.Errorf("SQS names entry %q of %d", aws.ToString(failure.Id), len(left))
			}
			if failure.SenderFault || attempt == tries-1 {
				notSent = append(notSent, NotSent{left[n], aws.ToString(failure.Code)})
			} else {
				again = append(again, left[n])
			}
		}
		left = again
	}
	return notSent, nil
}

// itsOwnCode is the code of an error by which SQS refuses a request because of one of its messages, "" of all others.
func itsOwnCode(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) && itsOwn.MatchString(answer.ErrorCode()) {
		return answer.ErrorCode()
	}
	return ""
}

// sendEach sends the messages of a refused request one by one, since one of them made SQS refuse it.
func (p Publisher) sendEach(ctx context.Context, refused []Message, code string) (notSent []NotSent, err error) {
	if len(refused) == 1 {
		return []NotSent{{refused[0], code}}, nil
	}
	for _, m := range refused {
		alone, err := p.send(ctx, []Message{m})
		if err != nil {
			return nil, err
		}
		notSent = append(notSent, alone...)
	}
	return notSent, nil
}

// wait waits before all attempts but the first.
func (p Publisher) wait(ctx context.Context, attempt int) error {
	if attempt == 0 {
		return nil
	}
	first := p.FirstWait
	if first == 0 {
		first = 100 * time.Millisecond
	}
	timer := time.NewTimer(first << (attempt - 1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to send events again: %w", ctx.Err())
	}
}

// batches groups messages as SQS takes them: by number, and by the bytes of all.
func batches(messages []Message) (all [][]Message) {
	total := 0
	for _, m := range messages {
		last := len(all) - 1
		if last < 0 || len(all[last]) == maxBatch || total+m.size() > maxBytes {
			all = append(all, nil)
			total = 0
			last++
		}
		all[last] = append(all[last], m)
		total += m.size()
	}
	return all
}

// fault is the code by which SQS would refuse a message, "" for a good one.
func (m Message) fault() string {
	switch {
	case m.Body == "" || !utf8.ValidString(m.Body) || strings.ContainsFunc(m.Body, unfit):
		return "InvalidMessageContents"
	case !name.MatchString(m.TenantID):
		return "InvalidParameterValue"
	case m.size() > maxBytes:
		return "MessageTooLong"
	}
	return ""
}

// unfit reports whether SQS refuses a character in a body.
func unfit(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
}

// size is the number of bytes that SQS counts: of the body, and of an attribute's name, type and value.
func (m Message) size() int {
	if trace := m.trace(); trace != "" {
		return len(m.Body) + len("traceparent"+"String") + len(trace)
	}
	return len(m.Body)
}

// trace is the traceparent, "" without one that SQS takes.
func (m Message) trace() string {
	if name.MatchString(m.Traceparent) {
		return m.Traceparent
	}
	return ""
}

// entries are messages as SendMessageBatch takes them. The tenant as group keeps others' events from waiting behind it.
func entries(messages []Message) (all []types.SendMessageBatchRequestEntry) {
	for n, m := range messages {
		entry := types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(n)), MessageBody: aws.String(m.Body), MessageGroupId: aws.String(m.TenantID),
		}
		if trace := m.trace(); trace != "" {
			entry.MessageAttributes = map[string]types.MessageAttributeValue{
				"traceparent": {DataType: aws.String("String"), StringValue: aws.String(trace)},
			}
		}
		all = append(all, entry)
	}
	return all
}
