// Command web is a function for the tests of the local stack: it answers a request with its event.
package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(handle) }

func handle(_ context.Context, event json.RawMessage) (any, error) {
	var request struct {
		RawPath string `json:"rawPath"`
	}
	_ = json.Unmarshal(event, &request) // it is the host's
	if request.RawPath == "/things/broken" {
		return nil, errors.New("as asked")
	}
	return map[string]any{
		"statusCode": 201, "headers": map[string]string{"x-answer": "yes", "content-type": "application/json"},
		"cookies": []string{"a=1"}, "body": string(event),
	}, nil
}
