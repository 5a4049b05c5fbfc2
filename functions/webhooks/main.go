// Command webhooks is the Lambda function behind the HTTP API, the management API, with which operators import
// endpoints, too.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/handler/webhooks"
)

func main() {
	coldstart.Run("webhooks", build)
}

func build(c webhooks.Config) (lambda.Handler, error) {
	h, err := webhooks.New(c)
	if err != nil {
		return nil, err
	}
	return h.Function(), nil
}
