package webhooks

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// Invoke implements lambda.Handler: API Gateway invokes it for tenants, IAM principals invoke it as operators. API
// Gateway adds a context to its invocations that no HTTP client can write or leave out. So a tenant's request never
// counts as an operator's.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var kind struct {
		Action  string         `json:"action"`
		Context jsontext.Value `json:"requestContext"`
	}
	if err := json.Unmarshal(payload, &kind); err == nil && kind.Action != "" && kind.Context == nil {
		operators := &invoke.Function{
			Name: string(api.Webhooks), Log: h.Log, Now: h.Now,
			Actions: invoke.Table(invoke.Serve(api.ImportEndpoints, h.importEndpoints)),
		}
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

// serve answers one request.
func (h *Handler) serve(ctx context.Context, c *call) response {
	started := h.Now()
	c.now = started.UTC().Truncate(time.Millisecond)
	bounded, stop := parallel.Deadline(ctx, reserve)
	defer stop()
	bounded, cancel := context.WithTimeout(bounded, patience)
	defer cancel()
	var answer []byte
	refused := problemOf(parallel.Guard(func() (err error) {
		answer, err = h.answer(bounded, c)
		return err
	}))
	res := c.respond(answer, refused)
	h.report(ctx, c, res.StatusCode, h.Now().Sub(started), refused)
	return res
}

// answer takes a request through the checks that all share, in the order the documentation
// gives: key, path, method, scope, query, body.
func (h *Handler) answer(ctx context.Context, c *call) ([]byte, error) {
	if c.malformed {
		return nil, problem.New(problem.CodeMalformedRequest)
	}
	unrouted := c.find() // a request's cost depends on its route and query
	var badQuery error
	if unrouted == nil {
		badQuery = c.readQuery()
	}
	if err := h.admit(ctx, c, unrouted); err != nil {
		return nil, err
	}
	if badQuery != nil {
		return nil, badQuery
	}
	if err := c.checkBody(); err != nil {
		return nil, err
	}
	answer, err := c.route.do(h, ctx, c)
	if err != nil || answer == nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, problem.Because(problem.CodeInternal, err)
	}
	return text, nil
}
