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

// ReplayWaker invokes replay while a job is running. Replay, which alone may open dead letters, works it off.
type ReplayWaker struct {
	Jobs     Jobs
	Lambda   Invoker
	Function string // replay's name
}

// Wake looks for a running job, and invokes replay for it.
func (w ReplayWaker) Wake(ctx context.Context) error {
	running, err := w.Jobs.Running(ctx)
	if err != nil || !running {
		return err
	}
	_, err = w.Lambda.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: &w.Function, InvocationType: types.InvocationTypeEvent,
		Payload: []byte(`{"action":"work_jobs","operator":"release"}`),
	})
	if err != nil {
		return fmt.Errorf("invoking %s: %w", w.Function, err)
	}
	return nil
}
