// Command fanout is the Lambda function behind EventsQueue: one delivery per matching endpoint.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/batch"
	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
)

func main() {
	coldstart.Run("fanout", build)
}

func build(c fanout.Config) (lambda.Handler, error) {
	h, err := fanout.New(c)
	if err != nil {
		return nil, err
	}
	return batch.Handler(h.Process), nil
}
