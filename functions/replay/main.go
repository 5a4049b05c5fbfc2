// Command replay is the Lambda function with which operators send dead deliveries and rejected events again.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/operators/replay"
)

func main() {
	coldstart.Run("replay", func(c replay.Config) (lambda.Handler, error) { return replay.New(c).Function(), nil })
}
