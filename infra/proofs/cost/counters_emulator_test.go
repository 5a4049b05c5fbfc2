//go:build emulator

package cost

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	bustypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

// counted returns the configuration of clients that count their calls. Calls to SQS and EventBridge end here, since the
// rig's clock moves in place of a wait for messages. Other calls go on after their caller has given up: an answer that
// comes too late counts, too.
func (r *rig) counted(cfg aws.Config) aws.Config {
	handle := func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
		if out.Result = r.answer(in.Parameters); out.Result != nil {
			return out, metadata, nil
		}
		ctx = context.WithoutCancel(ctx)
		deleted := r.deleted(ctx, in.Parameters)
		if transaction, ok := in.Parameters.(*dynamodb.TransactWriteItemsInput); ok && r.crowd > 0 {
			r.crowd--
			r.add(deleted, written(transaction))
			return out, metadata, met()
		}
		if put, ok := in.Parameters.(*dynamodb.PutItemInput); ok && r.raced > 0 {
			r.raced--
			r.add(usage{writes: math.Ceil(float64(size(put.Item)) / writeUnit)})
			return out, metadata, &dbtypes.ConditionalCheckFailedException{}
		}
		in, counted := asking(in)
		out, metadata, err = next.HandleInitialize(ctx, in)
		switch {
		case err == nil:
			r.add(deleted, consumed(in.Parameters, out.Result, r.provisioned))
		case counted && r.refusals: // they are billed like others
			r.add(deleted, written(in.Parameters))
		case counted:
			r.t.Errorf("AWS bills refused writes, too, and this one is not counted: %v", err)
		}
		return out, metadata, err
	}
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Counted", handle), middleware.Before)
	})
	return cfg
}

// answer counts a call, and is nil where AWS has to answer it.
func (r *rig) answer(call any) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch in := call.(type) {
	case *sqs.SendMessageBatchInput:
		out := &sqs.SendMessageBatchOutput{}
		for _, entry := range in.Entries {
			r.wait(entry.DelaySeconds)
			m := message{Body: *entry.MessageBody, MessageAttributes: sqsevent.Attributes(entry.MessageAttributes)}
			r.waiting[*in.QueueUrl] = append(r.waiting[*in.QueueUrl], m)
			out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: entry.Id})
		}
		r.asked()
		return out
	case *sqs.ChangeMessageVisibilityBatchInput:
		out := &sqs.ChangeMessageVisibilityBatchOutput{}
		for _, entry := range in.Entries {
			r.wait(entry.VisibilityTimeout)
			out.Successful = append(out.Successful, types.ChangeMessageVisibilityBatchResultEntry{Id: entry.Id})
		}
		r.asked()
		return out
	case *eventbridge.PutEventsInput:
		r.used[told] += float64(len(in.Entries))
		entry := bustypes.PutEventsResultEntry{EventId: aws.String("1")}
		return &eventbridge.PutEventsOutput{Entries: slices.Repeat([]bustypes.PutEventsResultEntry{entry}, len(in.Entries))}
	case *kms.DecryptInput, *kms.EncryptInput, *kms.GenerateDataKeyInput:
		r.used[keyCalls]++
	}
	return nil
}

// add counts units of DynamoDB.
func (r *rig) add(all ...usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range all {
		r.used = r.used.plus(1, u)
	}
}

// deleted are the units of a transaction's deletions, which DynamoDB Local leaves out.
func (r *rig) deleted(ctx context.Context, call any) (u usage) {
	if in, ok := call.(*dynamodb.TransactWriteItemsInput); ok {
		for _, w := range in.TransactItems {
			if w.Delete == nil {
				continue
			}
			item := must(dynamodb.NewFromConfig(r.cfg).GetItem(ctx, &dynamodb.GetItemInput{
				TableName: w.Delete.TableName, Key: w.Delete.Key, ConsistentRead: aws.Bool(true),
			})).Item
			u[writes] += 2 * max(1, math.Ceil(float64(size(item))/writeUnit))
		}
	}
	return u
}

// written returns the units of a refused write, as if the write was performed. A transaction's deletions do not count.
// A write that met another one is assumed to be billed, too.
func written(call any) (u usage) {
	in, several := call.(*dynamodb.TransactWriteItemsInput)
	if !several { // of a key
		u[writes] = 1
		return u
	}
	for _, w := range in.TransactItems {
		switch {
		case w.Put != nil:
			u[writes] += 2 * max(1, math.Ceil(float64(size(w.Put.Item))/writeUnit))
		case w.Update != nil: // of the tenant's counts
			u[writes] += 2
		}
	}
	return u
}

// met is the answer to a transaction that met another one.
func met() error {
	reasons := []dbtypes.CancellationReason{{Code: aws.String("None")}, {Code: aws.String("TransactionConflict")}}
	return &dbtypes.TransactionCanceledException{CancellationReasons: reasons}
}

func (r *rig) wait(seconds int32) { r.longest = max(r.longest, time.Duration(seconds)*time.Second) }

func (r *rig) asked() {
	r.used[requests]++
	r.used[fair]++
}
