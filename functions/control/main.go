// Command control is the Lambda function with which operators stop, start, release and discard deliveries,
// and test endpoints.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/operators/control"
)

func main() {
	coldstart.Run("control", func(c control.Config) (lambda.Handler, error) { return control.New(c).Function(), nil })
}
