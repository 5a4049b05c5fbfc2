package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// VisibilityChanger is the part of the SQS client that Parker calls.
type VisibilityChanger interface {
	ChangeMessageVisibilityBatch(context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
}

// Parker sets when received messages of one queue are seen again.
type Parker struct {
	Client VisibilityChanger
	URL    string
}

// Parked is one received message and the wait until it is seen again, rounded up to seconds.
type Parked struct {
	ReceiptHandle string
	Wait          time.Duration
}

// Park changes visibility timeouts, ten in a call; what a call leaves out is asked for once
// more. The answer has one error per message. A message whose change failed comes back after
// the queue's own visibility timeout.
func (p Parker) Park(ctx context.Context, messages []Parked) []error {
	faults := make([]error, len(messages))
	p.park(ctx, messages, faults)
	var again []int
	var left []Parked
	for i, err := range faults {
		if err != nil {
			again, left = append(again, i), append(left, messages[i])
		}
	}
	second := make([]error, len(left))
	p.park(ctx, left, second)
	for i, err := range second {
		faults[again[i]] = err
	}
	return faults
}

func (p Parker) park(ctx context.Context, messages []Parked, faults []error) {
	for from := 0; from < len(messages); from += maxBatch {
		to := min(from+maxBatch, len(messages))
		p.parkBatch(ctx, messages[from:to], faults[from:to])
	}
}

var errNotChanged = errors.New("changing visibility: the answer does not name this message")

func (p Parker) parkBatch(ctx context.Context, messages []Parked, faults []error) {
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(messages))
	for i, m := range messages {
		entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
			Id:                aws.String(strconv.Itoa(i)),
			ReceiptHandle:     aws.String(m.ReceiptHandle),
			VisibilityTimeout: seconds(m.Wait),
		}
	}
	out, err := p.Client.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: aws.String(p.URL), Entries: entries})
	if err != nil {
		for i := range faults {
			faults[i] = fmt.Errorf("changing visibility: %w", err)
		}
		return
	}
	for i := range faults {
		faults[i] = errNotChanged
	}
	for _, ok := range out.Successful {
		settle(faults, ok.Id, nil)
	}
	for _, failed := range out.Failed {
		settle(faults, failed.Id, fmt.Errorf("changing visibility: %s", aws.ToString(failed.Code)))
	}
}
