// Command deadletter is the Lambda function behind DeadLetterQueue: sealed records of dead deliveries.
package main

import (
	"github.com/herald-webhooks/herald/internal/edges/batch"
	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/pipeline/deadletter"
)

func main() {
	coldstart.Run("deadletter", func(c deadletter.Config) (batch.Handler, error) { return deadletter.New(c).Process, nil })
}
