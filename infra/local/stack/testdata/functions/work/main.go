// Command work is a function for the tests of the local stack: each message decides its own outcome.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

func main() {
	if os.Getenv("BATCH_SIZE") == "" {
		os.Exit(3)
	}
	lambda.Start(handle)
}

func handle(ctx context.Context, raw json.RawMessage) (any, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(raw, &event); err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	if len(event.Records) == 0 {
		return direct(ctx, raw)
	}
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, record := range event.Records {
		fmt.Printf("received %s %s\n", record.Body, record.Attributes["ApproximateReceiveCount"])
		first := record.Attributes["ApproximateReceiveCount"] == "1"
		switch {
		case strings.HasPrefix(record.Body, "fail"), strings.HasPrefix(record.Body, "once") && first:
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: record.MessageId})
		case strings.HasPrefix(record.Body, "kill") && first:
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	return response, nil
}

// direct answers an invocation by hand with the function's description of itself.
func direct(ctx context.Context, raw json.RawMessage) (any, error) {
	var request struct{ Do string }
	_ = json.Unmarshal(raw, &request) // no wish is fine
	switch request.Do {
	case "error":
		return nil, errors.New("as asked")
	case "panic":
		panic("as asked")
	case "exit":
		os.Exit(7)
	case "hang":
		time.Sleep(time.Minute)
	}
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	return map[string]any{
		"pid": os.Getpid(), "request_id": lc.AwsRequestID, "left_ms": time.Until(deadline).Milliseconds(),
	}, nil
}
