package release

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// Invoker is the part of the Lambda client that wakes replay.
type Invoker interface {
	Invoke(ctx context.Context, in *lambda.InvokeInput, options ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// Jobs tells whether a job is running (dynamo.Jobs).
type Jobs interface {
	Running(ctx context.Context) (bool, error)
}

// wakeReplay returns the call that invokes replay while a job is running. Replay, which alone may open dead letters,
// works it off.
func wakeReplay(jobs Jobs, client Invoker, replay string) func(context.Context) error {
	return func(ctx context.Context) error {
		running, err := jobs.Running(ctx)
		if err != nil || !running {
			return err
		}
		_, err = client.Invoke(ctx, &lambda.InvokeInput{
			FunctionName: &replay, InvocationType: types.InvocationTypeEvent,
			Payload: []byte(`{"action":"work_jobs","operator":"release"}`),
		})
		if err != nil {
			return fmt.Errorf("invoking %s: %w", replay, err)
		}
		return nil
	}
}
