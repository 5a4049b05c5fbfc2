package webhooks

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/apigw"
	"github.com/herald-webhooks/herald/internal/operator"
)

// Function is the Lambda function: API Gateway invokes it for tenants, IAM principals invoke it as operators.
type Function struct {
	api       apigw.Handler
	operators *operator.Function
}

// Function returns the function with the handler's routes and actions.
func (h *Handler) Function() *Function {
	return &Function{
		api: apigw.Handler(h.Serve),
		operators: &operator.Function{Name: "webhooks", Log: h.Log, Now: h.Now, Actions: map[string]operator.Action{
			"import": operator.Do(h.importEndpoints),
		}},
	}
}

// Invoke implements lambda.Handler. An invocation by API Gateway has a context that no HTTP client writes, and is
// never an operator's request.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var kind struct {
		Action  string         `json:"action"`
		Context jsontext.Value `json:"requestContext"`
	}
	if err := json.Unmarshal(payload, &kind); err == nil && kind.Action != "" && kind.Context == nil {
		return f.operators.Invoke(ctx, payload) //nolint:wrapcheck // the function's own answer
	}
	return f.api.Invoke(ctx, payload) //nolint:wrapcheck // the function's own answer
}
