package testkit

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
)

// Internal is the error of an operator function where the fault is Herald's.
const Internal = "internal error: see the function's log under this request id"

// Ask makes ann's request to an operator function, with these fields next to action and operator. It returns the answer
// or the error's text.
func Ask(t testing.TB, f lambda.Handler, action, fields string) string {
	t.Helper()
	request := strings.TrimSuffix(`{"action":"`+action+`","operator":"ann",`+fields, ",") + "}"
	out, err := f.Invoke(t.Context(), []byte(request))
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// ByAlias is an operator function that is invoked by an alias, as Lambda tells it.
func ByAlias(f lambda.Handler, alias string) lambda.Handler { return aliased{f, alias} }

type aliased struct {
	lambda.Handler
	alias string
}

// Invoke invokes it by the alias.
func (a aliased) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	arn := "arn:aws:lambda:eu-central-1:111122223333:function:herald-prod-replay:" + a.alias
	return a.Handler.Invoke(lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{InvokedFunctionArn: arn}), payload)
}

// Read decodes an answer that is no refusal.
func Read[T any](t testing.TB, answer string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(answer), &v); err != nil || strings.HasPrefix(answer, `{"error":`) {
		t.Fatalf("answered %s: %v", answer, err)
	}
	return v
}

// Refusal is the code and the field of a refusal, which has a message; "" for any other answer.
func Refusal(t testing.TB, answer string) string {
	t.Helper()
	var got struct {
		Error *struct{ Code, Field, Message string } `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &got, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("answered %s: %v", answer, err)
	}
	if got.Error == nil {
		return ""
	}
	if got.Error.Message == "" {
		t.Errorf("a refusal without a message: %s", answer)
	}
	return got.Error.Code + " " + got.Error.Field
}

// OneKey is the data key of every dead letter (deadletter.Keys).
type OneKey struct{}

// Generate hands the key out.
func (OneKey) Generate(context.Context, map[string]string) (plain, wrapped []byte, err error) {
	return make([]byte, 32), []byte("wrapped"), nil
}

// Unwrap hands the key out again.
func (OneKey) Unwrap(context.Context, map[string]string, []byte) ([]byte, error) {
	return make([]byte, 32), nil
}
