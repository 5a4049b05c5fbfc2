package queue

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// VisibilityChanger is the part of the SQS client that Visibility calls.
type VisibilityChanger interface {
	ChangeMessageVisibilityBatch(
		ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, options ...func(*sqs.Options)) (
		*sqs.ChangeMessageVisibilityBatchOutput, error)
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

// ChangeVisibility changes visibility timeouts, ten in a call. It tries failed changes once more, and returns one error
// per change. After a failed change, a message comes back at the end of the queue's visibility timeout.
func (v Visibility) ChangeVisibility(ctx context.Context, changes []VisibilityChange) []error {
	errs := v.change(ctx, changes)
	var again []int
	var left []VisibilityChange
	for i, err := range errs {
		if err != nil {
			again, left = append(again, i), append(left, changes[i])
		}
	}
	for i, err := range v.change(ctx, left) {
		errs[again[i]] = err
	}
	return errs
}

// change makes each change once, in as many calls as it takes.
func (v Visibility) change(ctx context.Context, changes []VisibilityChange) []error {
	end := func(from int) int { return min(from+maxBatch, len(changes)) }
	return inBatches("changing visibility", len(changes), end, func(from, to int) (answers, error) {
		return v.changeBatch(ctx, changes[from:to])
	})
}

// changeBatch makes one call. A receipt handle that has expired is refused by SQS, entry by entry.
func (v Visibility) changeBatch(ctx context.Context, changes []VisibilityChange) (answers, error) {
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(changes))
	for i, c := range changes {
		entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{
			Id:                entryID(i),
			ReceiptHandle:     aws.String(c.ReceiptHandle),
			VisibilityTimeout: seconds(c.Wait),
		}
	}
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: aws.String(v.URL), Entries: entries}
	out, err := v.Client.ChangeMessageVisibilityBatch(ctx, in)
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
