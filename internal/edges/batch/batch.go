// Package batch is the frame of every SQS consumer: it decodes an invocation, hands its records
// over and answers with a partial batch response that AWS cannot misread.
//
// It promises that the list of failures is never null. It never deletes a message or changes
// its visibility.
package batch

import (
	"context"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// Handler handles the records of one invocation, and returns the ids of the messages for SQS to send again. It
// implements lambda.Handler.
type Handler func(ctx context.Context, records []events.SQSMessage) (failed []string)

// Invoke decodes an SQS event, processes it and encodes the partial batch response. Any other payload fails the
// invocation, and with it the whole batch.
func (h Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("decoding the SQS event: %w", err)
	}
	failed := h(ctx, event.Records)
	answer := events.SQSEventResponse{BatchItemFailures: make([]events.SQSBatchItemFailure, 0, len(failed))}
	for _, id := range failed {
		answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
	}
	return json.Marshal(answer)
}
