package model

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// NewQueue makes a queue without redrive that no mapping reads, such as EventsDeadLetterQueue.
func (m *Model) NewQueue(name string) *Queue {
	return &Queue{Name: name, Limit: mostInFlight, model: m, stored: map[int]*message{}}
}

// Polled returns the queue's client, as the process calls it.
func (p *Process) Polled(q *Queue) Polled { return Polled{p, q} }

// Polled is the client of SQS for a queue that a function asks for messages.
type Polled struct {
	*Process
	Of *Queue
}

// ReceiveMessage receives messages under a visibility timeout. If the queue has no message, it waits for as long as the
// request says.
func (c Polled) ReceiveMessage(
	ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options),
) (*sqs.ReceiveMessageOutput, error) {
	timeout := time.Duration(in.VisibilityTimeout) * time.Second
	receive := func() (messages []types.Message) {
		for _, r := range c.Of.receive(int(in.MaxNumberOfMessages), timeout) {
			m := types.Message{
				MessageId: aws.String(r.MessageId), ReceiptHandle: aws.String(r.ReceiptHandle), Body: aws.String(r.Body),
				Attributes: r.Attributes, MessageAttributes: map[string]types.MessageAttributeValue{},
			}
			for name, a := range r.MessageAttributes {
				m.MessageAttributes[name] = types.MessageAttributeValue{
					DataType: aws.String(a.DataType), StringValue: a.StringValue,
				}
			}
			messages = append(messages, m)
		}
		return messages
	}
	messages, err := asked(ctx, c.Process, "Receive "+c.Of.Name, "", receive)
	if err != nil || len(messages) > 0 || in.WaitTimeSeconds == 0 {
		return &sqs.ReceiveMessageOutput{Messages: messages}, err
	}
	if !wait(ctx, time.Duration(in.WaitTimeSeconds)*time.Second) {
		return nil, ctx.Err()
	}
	c.model.Mu.Lock()
	defer c.model.Mu.Unlock()
	return &sqs.ReceiveMessageOutput{Messages: receive()}, nil
}

// DeleteMessage deletes a message by the receipt of any of its receives.
func (c Polled) DeleteMessage(
	ctx context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options),
) (*sqs.DeleteMessageOutput, error) {
	receipt := aws.ToString(in.ReceiptHandle)
	err := c.one(ctx, "DeleteMessage "+c.Of.Name, receipt, func() { c.Of.Delete(receipt) })
	return &sqs.DeleteMessageOutput{}, err
}

// ChangeMessageVisibilityBatch changes visibility timeouts, as one call.
func (c Polled) ChangeMessageVisibilityBatch(
	ctx context.Context, in *sqs.ChangeMessageVisibilityBatchInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	gone := make([]error, len(in.Entries))
	first := aws.ToString(in.Entries[0].ReceiptHandle)
	errs := c.many(ctx, "ChangeVisibility "+c.Of.Name, first, len(in.Entries), func(i int) {
		e := in.Entries[i]
		gone[i] = c.Of.Hide(aws.ToString(e.ReceiptHandle), time.Duration(e.VisibilityTimeout)*time.Second)
	})
	out := &sqs.ChangeMessageVisibilityBatchOutput{}
	for i, e := range in.Entries {
		switch {
		case errs[i] == nil && gone[i] == nil:
			out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: e.Id})
		case errs[i] != nil && allFailed(errs):
			return nil, errs[i]
		default:
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError")})
		}
	}
	return out, nil
}

// allFailed reports whether a call as a whole has failed.
func allFailed(errs []error) bool {
	for _, err := range errs {
		if err == nil {
			return false
		}
	}
	return true
}
