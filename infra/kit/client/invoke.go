package client

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"
)

// Invoker is Lambda, as [lambda.Client] is.
type Invoker interface {
	Invoke(context.Context, *lambda.InvokeInput, ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// Fault is the failure of a function. Unlike a refusal, it is no answer.
type Fault struct {
	Message   string // "" where the function gave no reason
	RequestID string // of its log
}

func (f *Fault) Error() string { return "the function failed: " + f.Reason() }

// Reason is what the function says of its failure, or that it said nothing.
func (f *Fault) Reason() string { return cmp.Or(f.Message, "it gave no reason") }

// InvokeFunction sends a request to the function with this name in AWS, once, and returns its answer, which may be a
// refusal. A failure of the function is a *[Fault].
func InvokeFunction(
	ctx context.Context, on Invoker, name string, request []byte,
) (answer []byte, err error) {
	out, err := on.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: request})
	if err != nil {
		return nil, err //nolint:wrapcheck // each caller explains it in its own words
	}
	if out.FunctionError == nil {
		return out.Payload, nil
	}
	var told struct {
		Message string `json:"errorMessage"` // Lambda's form
	}
	if err := json.Unmarshal(out.Payload, &told); err != nil {
		told.Message = "" // such as of a process that was killed
	}
	id, _ := middleware.GetRequestIDMetadata(out.ResultMetadata)
	return nil, &Fault{Message: told.Message, RequestID: id}
}
