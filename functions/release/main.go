// Command release is the Lambda function behind the schedule of one minute: it sends deliveries from Backlog.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
)

func main() {
	coldstart.Run("release", func(c release.Config) (lambda.Handler, error) {
		h, err := release.New(c)
		return lambda.NewHandler(h.Run), err
	})
}
