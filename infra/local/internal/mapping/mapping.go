// Package mapping moves messages from a queue to a function, as a Lambda event source mapping does.
//
// It promises long polling, batches by size and window, at most MaximumConcurrency invocations at a
// time, and the deletion of exactly the messages that AWS would delete. After a failed invocation it
// leaves the messages alone: they come back when their visibility timeout ends. It never changes a
// visibility and never retries an invocation.
package mapping

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
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

// Config is an event source mapping as it was deployed.
type Config struct {
	QueueURL           string
	QueueARN           string
	Region             string
	BatchSize          int
	Window             time.Duration
	MaximumConcurrency int
	PartialResponses   bool // ReportBatchItemFailures
}

// Queue is the part of the SQS client that a mapping uses.
type Queue interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput,
		...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// Function is what a mapping invokes.
type Function interface {
	Invoke(ctx context.Context, payload []byte) (function.Result, error)
}

// Mapping runs one event source mapping.
type Mapping struct {
	Config
	Queue    Queue
	Function Function
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
			m.process(ctx, batch)
		})
	}
}

// gather receives until the batch is full, its window has passed or ctx has ended.
func (m *Mapping) gather(ctx context.Context) []types.Message {
	batch := m.receive(ctx, m.BatchSize, poll)
	if len(batch) == 0 || m.Window == 0 {
		return batch
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

// process invokes the function with the batch and deletes what succeeded.
func (m *Mapping) process(ctx context.Context, batch []types.Message) {
	result, err := m.invoke(ctx, batch)
	if err != nil {
		if ctx.Err() == nil {
			m.Log.Error("invoking failed", "queue", m.QueueURL, "error", err.Error())
		}
		return
	}
	if result.Error != "" {
		m.Log.Warn("batch failed", "queue", m.QueueURL, "messages", len(batch),
			"request_id", result.RequestID, "error", string(result.Payload))
		return
	}
	var failed map[string]bool
	if m.PartialResponses {
		ids := make(map[string]bool, len(batch))
		for _, message := range batch {
			ids[aws.ToString(message.MessageId)] = true
		}
		if failed, err = failures(result.Payload, ids); err != nil {
			m.Log.Warn("batch failed", "queue", m.QueueURL, "messages", len(batch),
				"request_id", result.RequestID, "error", err.Error())
			return
		}
	}
	m.remove(ctx, batch, failed)
}

// invoke waits for a free process of the function, as Lambda retries a throttled invocation.
func (m *Mapping) invoke(ctx context.Context, batch []types.Message) (function.Result, error) {
	payload, err := m.event(batch)
	if err != nil {
		return function.Result{}, err
	}
	for {
		result, err := m.Function.Invoke(ctx, payload)
		if !errors.Is(err, function.ErrThrottled) {
			if err != nil {
				err = fmt.Errorf("invoking: %w", err)
			}
			return result, err
		}
		sleep(ctx, pause)
	}
}

func (m *Mapping) remove(ctx context.Context, batch []types.Message, failed map[string]bool) {
	var entries []types.DeleteMessageBatchRequestEntry
	for i, message := range batch {
		if !failed[aws.ToString(message.MessageId)] {
			entries = append(entries, types.DeleteMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(i)), ReceiptHandle: message.ReceiptHandle,
			})
		}
	}
	for len(entries) > 0 {
		n := min(len(entries), perCall)
		out, err := m.Queue.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &m.QueueURL, Entries: entries[:n]})
		entries = entries[n:]
		switch {
		case err != nil && ctx.Err() == nil:
			m.Log.Error("deleting failed", "queue", m.QueueURL, "error", err.Error())
		case err == nil && len(out.Failed) > 0:
			m.Log.Error("deleting failed", "queue", m.QueueURL, "messages", len(out.Failed),
				"error", aws.ToString(out.Failed[0].Message))
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
