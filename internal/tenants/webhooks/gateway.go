package webhooks

import (
	"context"
	"encoding/base64"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// response is an answer to API Gateway.
type response struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"` // by their usual spelling
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

// Invoke implements lambda.Handler: API Gateway invokes it for tenants, IAM principals invoke it as operators. An
// invocation by API Gateway has a context that no HTTP client writes, and is never an operator's request.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var kind struct {
		Action  string         `json:"action"`
		Context jsontext.Value `json:"requestContext"`
	}
	if err := json.Unmarshal(payload, &kind); err == nil && kind.Action != "" && kind.Context == nil {
		operators := &invoke.Function{Name: "webhooks", Log: h.Log, Now: h.Now, Actions: map[string]invoke.Action{
			"import": invoke.Do(h.importEndpoints),
		}}
		return operators.Invoke(ctx, payload)
	}
	return json.Marshal(h.serve(ctx, received(ctx, payload)), jsontext.AllowInvalidUTF8(true))
}

// received is the request of an invocation by an HTTP API (payload format 2.0). Another payload is a malformed request,
// which is answered like any other.
func received(ctx context.Context, payload []byte) *call {
	c := &call{}
	err := json.Unmarshal(payload, &c.in)
	c.body = []byte(c.in.Body)
	if err == nil && c.in.IsBase64Encoded {
		c.body, err = base64.StdEncoding.DecodeString(c.in.Body)
	}
	if err == nil {
		return c
	}
	malformed := &call{malformed: true} // err may quote a header, which neither the log nor the answer is to have
	if own, ok := lambdacontext.FromContext(ctx); ok {
		malformed.in.RequestContext.RequestID = own.AwsRequestID
	}
	return malformed
}
