// Package batch is the frame of every SQS consumer: it decodes an invocation, runs its
// records and answers with a partial batch response that AWS cannot misread.
//
// It promises that one record cannot hurt another (a panic fails that record only) and that
// the list of failures is never null. It never deletes a message or changes its visibility.
package batch

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/queue"
)

// Failures are the message ids of the records that are to be received again.
type Failures []string

// Process handles the records of one invocation.
type Process func(ctx context.Context, records []queue.Record) Failures

// Handler makes a Process a lambda.Handler.
func Handler(process Process) *InvocationHandler { return &InvocationHandler{process: process} }

// InvocationHandler implements lambda.Handler.
type InvocationHandler struct{ process Process }

// Invoke decodes an SQS event, processes it and encodes the partial batch response. An event
// that is none fails the invocation, and with it the whole batch.
func (h *InvocationHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event struct {
		Records []queue.Record `json:"Records"`
	}
	// Lambda wrote the payload: a search for names that come twice would find none.
	if err := json.Unmarshal(payload, &event, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, fmt.Errorf("decoding the SQS event: %w", err)
	}
	failed := h.process(ctx, event.Records)
	answer := events.SQSEventResponse{BatchItemFailures: make([]events.SQSBatchItemFailure, 0, len(failed))}
	for _, id := range failed {
		answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return json.Marshal(answer)
}

// Panic is the error of a record whose work panicked.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return "panic in a record" }

// Each runs do(0) … do(n-1) concurrently, at most limit at once, and returns their errors by
// index once all have returned. A panic becomes a *Panic.
func Each(n, limit int, do func(i int) error) []error {
	errs := make([]error, n)
	slots := make(chan struct{}, max(limit, 1))
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = Guard(func() error { return do(i) })
		})
	}
	wait.Wait()
	return errs
}

// Guard runs do and turns a panic into a *Panic.
func Guard(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return do()
}

// Deadline returns a context that ends reserve before ctx's own deadline, so that there is
// time left to record results and answer. Without a deadline it is ctx with a cancel.
func Deadline(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}
