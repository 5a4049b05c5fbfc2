// Package mapping moves messages from a queue to a function, as a Lambda event source mapping does.
//
// It promises long polling, batches by size and window, at most MaximumConcurrency invocations at a
// time, and the deletion of exactly the messages that AWS would delete. After a failed invocation it
// leaves the messages alone: they come back when their visibility timeout ends. It never changes a
// visibility and never retries an invocation.
//
// The tests on fake time have a second mapping, in internal/testkit/model. This package is the judge of what Lambda
// does with batches, windows and answers; the model is the judge of how long deliveries wait. Where the model's mapping
// does something else with a batch or an answer, the model is wrong.
package mapping

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const (
	// perCall is how many messages SQS gives or takes in one call.
	perCall = 10
	// poll is how long a receive waits. Lambda waits 20 s; a poll that is given up when the
	// stack ends must not live on in the emulator for long.
	poll = 5 * time.Second
	// pause follows an error of the emulator or a function without a free process.
	pause = 200 * time.Millisecond
)

// Mapping is an event source mapping as it was deployed, and its two ends.
type Mapping struct {
	QueueURL           string
	QueueARN           string
	Region             string
	BatchSize          int
	Window             time.Duration
	MaximumConcurrency int
	PartialResponses   bool // ReportBatchItemFailures

	Queue    *sqs.Client
	Function *function.Function
	Log      *slog.Logger
}

// Run works until ctx ends, and returns when no invocation of it is left.
func (m *Mapping) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, m.MaximumConcurrency)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		batch := m.gather(ctx)
		if len(batch) == 0 {
			<-slots
			continue
		}
		running.Go(func() {
			defer func() { <-slots }()
			if err := m.process(ctx, batch); err != nil && ctx.Err() == nil {
				m.Log.Warn("batch failed", "queue", m.QueueURL, "messages", len(batch), "error", err.Error())
			}
		})
	}
}

// gather receives until the batch is full, its window has passed or ctx has ended.
func (m *Mapping) gather(ctx context.Context) []types.Message {
	batch := m.receive(ctx, m.BatchSize, poll)
	if len(batch) == 0 {
		return nil
	}
	end := time.Now().Add(m.Window)
	for len(batch) < m.BatchSize && ctx.Err() == nil {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		// SQS waits whole seconds: the last, shorter wait is polled in steps.
		more := m.receive(ctx, m.BatchSize-len(batch), left.Truncate(time.Second))
		batch = append(batch, more...)
		if len(more) == 0 && left < time.Second {
			sleep(ctx, min(left, pause/2))
		}
	}
	return batch
}

func (m *Mapping) receive(ctx context.Context, count int, wait time.Duration) []types.Message {
	out, err := m.Queue.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    &m.QueueURL,
		MaxNumberOfMessages:         int32(min(count, perCall)), //nolint:gosec // ten at most
		WaitTimeSeconds:             int32(wait / time.Second),  //nolint:gosec // 20 at most
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		if ctx.Err() == nil {
			m.Log.Error("receiving failed", "queue", m.QueueURL, "error", err.Error())
			sleep(ctx, pause)
		}
		return nil
	}
	return out.Messages
}

// process invokes the function with the batch and deletes the messages that succeeded.
func (m *Mapping) process(ctx context.Context, batch []types.Message) error {
	result, err := m.invoke(ctx, batch)
	if err != nil {
		return err
	}
	if result.Error != "" {
		return fmt.Errorf("invocation %s failed: %s", result.RequestID, result.Payload)
	}
	var failed map[string]bool
	if m.PartialResponses {
		failed, err = failures(result.Payload, batch)
		if err != nil {
			return fmt.Errorf("invocation %s: %w", result.RequestID, err)
		}
	}
	return m.remove(ctx, slices.DeleteFunc(batch, func(message types.Message) bool {
		return failed[aws.ToString(message.MessageId)]
	}))
}

// invoke waits for a free process of the function, as Lambda retries a throttled invocation.
func (m *Mapping) invoke(ctx context.Context, batch []types.Message) (function.Result, error) {
	payload, err := json.Marshal(m.event(batch))
	if err != nil {
		return function.Result{}, fmt.Errorf("encoding batch: %w", err)
	}
	for {
		result, err := m.Function.Invoke(ctx, payload)
		if !errors.Is(err, function.ErrThrottled) {
			return result, err
		}
		sleep(ctx, pause)
	}
}

func (m *Mapping) event(batch []types.Message) events.SQSEvent {
	var event events.SQSEvent
	for _, message := range batch {
		record := sqsevent.Of(message, m.QueueARN)
		record.EventSource, record.AWSRegion = "aws:sqs", m.Region
		record.Md5OfBody = aws.ToString(message.MD5OfBody)
		record.Md5OfMessageAttributes = aws.ToString(message.MD5OfMessageAttributes)
		event.Records = append(event.Records, record)
	}
	return event
}

func (m *Mapping) remove(ctx context.Context, done []types.Message) error {
	var failed []error
	for chunk := range slices.Chunk(done, perCall) {
		in := &sqs.DeleteMessageBatchInput{QueueUrl: &m.QueueURL}
		for _, message := range chunk {
			in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{
				Id: message.MessageId, ReceiptHandle: message.ReceiptHandle,
			})
		}
		out, err := m.Queue.DeleteMessageBatch(ctx, in)
		if err == nil && len(out.Failed) > 0 {
			err = errors.New(aws.ToString(out.Failed[0].Message))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("deleting %d messages: %w", len(chunk), err))
		}
	}
	return errors.Join(failed...)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
