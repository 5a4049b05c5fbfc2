// Command deliver is the Lambda function behind DeliveryQueue and RetryQueue: one attempt per message.
package main

import (
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/batch"
	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
)

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // package log's output, too: net/http quotes receivers there
	coldstart.Run("deliver", func(c deliver.Config) (batch.Handler, error) {
		h, err := deliver.New(c)
		return h.Process, err
	})
}
