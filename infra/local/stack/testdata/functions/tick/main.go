// Command tick is a function for the tests of schedules: it tells what it gets, takes longer than a tick
// for its schedule's input, and fails every event of a rule.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(handle) }

func handle(_ context.Context, raw json.RawMessage) error {
	var event struct{ ID, Source, Do string }
	if err := json.Unmarshal(raw, &event); err != nil {
		return fmt.Errorf("decoding: %w", err)
	}
	if event.Source == "aws.events" {
		fmt.Println("failing", event.ID)
		return errors.New("as asked")
	}
	fmt.Println("begin", event.Do)
	time.Sleep(7 * time.Second)
	fmt.Println("end", event.Do)
	return nil
}
