package client

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// function is a function that answers, or fails, in one way.
type function lambda.InvokeOutput

func (f function) Invoke(
	context.Context, *lambda.InvokeInput, ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	return (*lambda.InvokeOutput)(&f), nil
}

func TestInvokeFunction_tellsAFailureFromAnAnswer(t *testing.T) {
	failed := aws.String("Unhandled")
	for name, row := range map[string]struct {
		function function
		reason   string // "" for an answer
	}{
		"an answer":   {function{Payload: []byte(`{"data":[]}`)}, ""},
		"a refusal":   {function{Payload: []byte(`{"error":{"code":"not_found"}}`)}, ""},
		"a failure":   {function{Payload: []byte(`{"errorMessage":"no time"}`), FunctionError: failed}, "no time"},
		"its silence": {function{Payload: []byte(`<html>`), FunctionError: failed}, "it gave no reason"},
	} {
		answer, err := InvokeFunction(t.Context(), row.function, "herald-inspect", []byte(`{}`))
		fault, is := errors.AsType[*Fault](err)
		switch {
		case row.reason == "" && (err != nil || string(answer) != string(row.function.Payload)):
			t.Errorf("%s: %s, %v", name, answer, err)
		case row.reason != "" && (!is || fault.Reason() != row.reason || answer != nil):
			t.Errorf("%s: %s, %v", name, answer, err)
		}
	}
}
