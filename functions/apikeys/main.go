// Command apikeys is the Lambda function with which operators issue, list and revoke API keys.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/operators/apikeys"
)

func main() {
	coldstart.Run("apikeys", func(c apikeys.Config) (lambda.Handler, error) { return apikeys.New(c).Function(), nil })
}
