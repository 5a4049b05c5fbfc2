// Command replay is the Lambda function with which operators send dead deliveries and rejected events again.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/handler/replay"
)

func main() {
	coldstart.Run("replay", build)
}

func build(p coldstart.Process, s replay.Settings) (lambda.Handler, error) {
	return replay.New(replay.Config{Settings: s, AWS: p.AWS, Log: p.Log}).Function(), nil
}
