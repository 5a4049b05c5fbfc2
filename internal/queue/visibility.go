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

// VisibilityChanger is the part of the SQS client that Visibility calls.
type VisibilityChanger interface {
	ChangeMessageVisibilityBatch(context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
}

// Visibility sets when received messages of one queue are seen again.
type Visibility struct {
	Client VisibilityChanger
	URL    string
}

// VisibilityChange is one received message and the wait until it is seen again, rounded up to
// seconds.
type VisibilityChange struct {
	ReceiptHandle string
	Wait          time.Duration
}

// ChangeVisibility changes visibility timeouts, ten in a call; what a call leaves out is asked
// for once more. The answer has one error per change. A message whose change failed comes back
// after the queue's own visibility timeout.
func (v Visibility) ChangeVisibility(ctx context.Context, changes []VisibilityChange) []error {
	faults := make([]error, len(changes))
	v.change(ctx, changes, faults)
	var again []int
	var left []VisibilityChange
	for i, err := range faults {
		if err != nil {
			again, left = append(again, i), append(left, changes[i])
		}
	}
	second := make([]error, len(left))
	v.change(ctx, left, second)
	for i, err := range second {
		faults[again[i]] = err
	}
	return faults
}

func (v Visibility) change(ctx context.Context, changes []VisibilityChange, faults []error) {
	for from := 0; from < len(changes); from += maxBatch {
		to := min(from+maxBatch, len(changes))
		v.changeBatch(ctx, changes[from:to], faults[from:to])
	}
}

var errNotChanged = errors.New("changing visibility: the answer does not name this message")

func (v Visibility) changeBatch(ctx context.Context, changes []VisibilityChange, faults []error) {
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(changes))
	for i, c := range changes {
		entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
			Id:                aws.String(strconv.Itoa(i)),
			ReceiptHandle:     aws.String(c.ReceiptHandle),
			VisibilityTimeout: seconds(c.Wait),
		}
	}
	out, err := v.Client.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: aws.String(v.URL), Entries: entries})
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
