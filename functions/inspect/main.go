// Command inspect is the Lambda function that shows operators delivery state, dead letters and rejected events.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
)

func main() {
	coldstart.Run("inspect", func(c inspect.Config) (lambda.Handler, error) { return inspect.New(c).Function(), nil })
}
