// Command deadletter is the Lambda function behind DeadLetterQueue: sealed records of dead deliveries.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/batch"
	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
)

func main() {
	coldstart.Run("deadletter", build)
}

func build(c deadletter.Config) (lambda.Handler, error) {
	h := deadletter.New(c)
	return batch.Handler(h.Process), nil
}
