package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"
)

// behindQueues are the functions that believe the messages which they are given.
var behindQueues = []string{"fanout", "deliver", "deadletter"}

// noBatch is the request. A function that accepted it would have nothing to do.
var noBatch = []byte(`{"Records":[]}`)

// direct invokes the functions behind queues. Policies must deny that to everyone, and must let the mappings through.
func direct(ctx context.Context, r *run) (says string, err error) {
	if r.Direct == nil {
		return "", notShown("the emulator enforces no rights")
	}
	if r.PoliciesOff {
		return "", notShown("FunctionPolicies is off: whoever may invoke functions can invoke these, too")
	}
	var faults, unknown []error
	for _, function := range behindQueues {
		for _, version := range []string{"", "$LATEST"} {
			in := &lambda.InvokeInput{FunctionName: aws.String(r.Name + "-" + function), Payload: noBatch}
			if version != "" {
				in.Qualifier = &version
			}
			_, err := r.Direct.Invoke(ctx, in)
			var hidden notShown
			switch err = denied(*in.FunctionName+" "+version, err); {
			case errors.As(err, &hidden):
				unknown = append(unknown, err)
			case err != nil:
				faults = append(faults, err)
			}
		}
	}
	if len(faults) > 0 {
		return "", errors.Join(faults...)
	}
	if err := r.once(ctx); err != nil {
		return "", fmt.Errorf("what is behind queues refuses the mappings, too: %w", err)
	}
	if len(unknown) > 0 {
		return "", notShown("events pass the mappings; " + errors.Join(unknown...).Error())
	}
	return "your own right to invoke is denied, and an event passes the mappings", nil
}

// denied judges the answer to an invocation. Lambda tells a denial by a policy of the function from a right that the
// caller does not have.
func denied(what string, err error) error {
	var api smithy.APIError
	switch {
	case err == nil:
		return fmt.Errorf("%s was invoked past its queue", what)
	case !errors.As(err, &api) || !strings.HasPrefix(api.ErrorCode(), "AccessDenied"):
		return fmt.Errorf("invoking %s: %w", what, err)
	case !strings.Contains(api.ErrorMessage(), "explicit deny in a resource-based policy"):
		return notShown(fmt.Sprintf("you may not invoke %s anyway, so its policy decided nothing: %s",
			strings.TrimSpace(what), api.ErrorMessage()))
	}
	return nil
}
