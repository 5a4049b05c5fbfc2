// Package apigw is the HTTP edge: it turns invocations by an API Gateway HTTP API (payload
// format 2.0) into requests and responses back into answers.
//
// It promises that a handler sees the exact bytes of the body and the whole path and query as
// they were sent, and that an invocation which is no HTTP request is answered like any other.
// It knows no routes, decides about no request and logs nothing.
package apigw

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request is one HTTP request.
type Request struct {
	ID       string // API Gateway's request id, also in its access log
	Method   string
	Path     string
	Query    string            // raw, without "?"
	Header   map[string]string // names in lower case; repeated headers joined by commas
	Body     []byte
	SourceIP string
	// Malformed says that the invocation is not an HTTP request. All other fields but ID, Lambda's own, are empty.
	Malformed bool
}

// Response is the answer to a Request. Header names are in their usual spelling.
type Response struct {
	Status int
	Header map[string]string
	Body   []byte // UTF-8; nil for none
}

// Handler answers requests. It implements lambda.Handler.
type Handler func(context.Context, Request) Response

type answer struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

// Invoke decodes an invocation, has it answered and encodes the answer.
func (serve Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	req, err := decode(payload)
	if err != nil {
		req = Request{Malformed: true} // the error may quote a header
		if own, ok := lambdacontext.FromContext(ctx); ok {
			req.ID = own.AwsRequestID
		}
	}
	res := serve(ctx, req)
	a := answer{StatusCode: res.Status, Headers: res.Header, Body: string(res.Body)}
	out, err := json.Marshal(a, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	return out, nil
}

func decode(payload []byte) (Request, error) {
	var in events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(payload, &in); err != nil {
		return Request{}, fmt.Errorf("decoding the HTTP API invocation: %w", err)
	}
	body := []byte(in.Body)
	if in.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(in.Body); err != nil {
			return Request{}, fmt.Errorf("decoding the body of the HTTP API invocation: %w", err)
		}
	}
	return Request{
		ID:     in.RequestContext.RequestID,
		Method: in.RequestContext.HTTP.Method, Path: in.RawPath, Query: in.RawQueryString,
		Header: in.Headers, Body: body, SourceIP: in.RequestContext.HTTP.SourceIP,
	}, nil
}
