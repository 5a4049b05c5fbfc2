package verify

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"
)

func refusal(code, message string) error {
	return &smithy.GenericAPIError{Code: code, Message: message}
}

const (
	byPolicy = "User: … is not authorized to perform: lambda:InvokeFunction on resource: … with an explicit deny in a " +
		"resource-based policy"
	byNobody = "User: … is not authorized to perform: lambda:InvokeFunction on resource: … because no identity-based " +
		"policy allows the lambda:InvokeFunction action"
)

// A caller without any right to invoke learns nothing of the function's policy.
func TestDenied_tellsAPolicyFromAMissingRight(t *testing.T) {
	for name, row := range map[string]struct {
		err    error
		held   bool
		hidden bool
	}{
		"it was invoked":     {nil, false, false},
		"denied":             {refusal("AccessDeniedException", byPolicy), true, false},
		"not allowed":        {refusal("AccessDeniedException", byNobody), false, true},
		"not there":          {refusal("ResourceNotFoundException", "Function not found"), false, false},
		"no answer of AWS's": {errors.New("connection refused"), false, false},
	} {
		err := denied("herald-deliver", row.err)
		var hidden notShown
		if (err == nil) != row.held || errors.As(err, &hidden) != row.hidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// lets is Lambda with one function that takes an invocation. It names the function and its version.
type lets string

func (l lets) Invoke(
	_ context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	version := ""
	if in.Qualifier != nil {
		version = *in.Qualifier
	}
	if *in.FunctionName+" "+version == string(l) {
		return &lambda.InvokeOutput{}, nil
	}
	return nil, refusal("AccessDeniedException", byPolicy)
}

func TestDirect_findsTheOneFunctionThatIsOpen(t *testing.T) {
	for _, open := range []string{"herald-fanout ", "herald-deliver $LATEST", "herald-deadletter "} {
		_, err := direct(context.Background(), &run{Config: Config{Name: "herald", Direct: lets(open)}})
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(open)) {
			t.Errorf("%s is open: %v", open, err)
		}
	}
}

// A stack without the policies refuses nobody, as it was asked to.
func TestDirect_showsNothingWhereThePoliciesAreOff(t *testing.T) {
	for _, off := range []bool{false, true} {
		c := Config{Name: "herald", PoliciesOff: off, Direct: lets("herald-deliver ")}
		_, err := direct(context.Background(), &run{Config: c})
		if _, hidden := errors.AsType[notShown](err); err == nil || hidden != off {
			t.Errorf("policies off: %v: %v", off, err)
		}
	}
}
