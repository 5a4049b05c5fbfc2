// Command control is the Lambda function with which operators stop, start, release and discard deliveries,
// and test endpoints.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/handler/control"
)

func main() {
	coldstart.Run("control", build)
}

func build(p coldstart.Process, s control.Settings) (lambda.Handler, error) {
	return control.New(control.Config{Settings: s, AWS: p.AWS, Log: p.Log}).Function(), nil
}
