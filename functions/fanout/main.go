// Command fanout is the Lambda function behind EventsQueue: one delivery per matching endpoint.
package main

import (
	"github.com/herald-webhooks/herald/internal/edges/batch"
	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/pipeline/fanout"
)

func main() {
	coldstart.Run("fanout", func(c fanout.Config) (batch.Handler, error) {
		h, err := fanout.New(c)
		return h.Process, err
	})
}
