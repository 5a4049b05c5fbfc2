// Package httpapi is the front of an HTTP API: it turns requests into Lambda events of payload format
// 2.0 and the function's answers into responses, as API Gateway does.
//
// It promises API Gateway's own answers (400, 413, 500, 503) word for word. It sends every request through the
// default route, as all routes of Herald's API lead to one function, and never looks into a body.
package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const (
	maxBody      = 10_000_000 // API Gateway's limit of a request body
	defaultRoute = "$default"
)

var functionARN = regexp.MustCompile(`\$\{([A-Za-z0-9]+)\.Arn\}`)

// FunctionOf returns the logical id of the function behind all routes of an AWS::ApiGatewayV2::Api, as the SAM
// translator writes it, and refuses any API but the kind that Herald has.
func FunctionOf(api cfn.Object) (string, error) {
	var names []string
	rest := false
	for path, operations := range cfn.At(api, "Body", "paths") {
		methods, _ := operations.(cfn.Object)
		for method, operation := range methods {
			o, _ := operation.(cfn.Object)
			call := cfn.At(o, "x-amazon-apigateway-integration")
			uri, _ := cfn.At(call, "uri")["Fn::Sub"].(string)
			found := functionARN.FindStringSubmatch(uri)
			if o["security"] != nil || call["type"] != "aws_proxy" || call["payloadFormatVersion"] != "2.0" || found == nil {
				return "", fmt.Errorf("route %s %s: the local stack knows Lambda proxies of payload format 2.0 "+
					"without authorizers only", method, path)
			}
			names, rest = append(names, found[1]), rest || o["isDefaultRoute"] == true
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) != 1 || !rest {
		return "", fmt.Errorf("the local stack knows APIs of one function with a default route only, not of %v", names)
	}
	return names[0], nil
}

// Function is the target of all routes.
type Function interface {
	Invoke(ctx context.Context, payload []byte) (function.Result, error)
}

// API is one HTTP API.
type API struct {
	Function Function
	// Lifetime bounds invocations: like API Gateway, the front does not stop a function when its client leaves.
	Lifetime context.Context
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		own(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	case err != nil:
		own(w, http.StatusBadRequest, "Bad Request")
		return
	}
	e := event(r, body)
	w.Header().Set("Apigw-Requestid", e.RequestContext.RequestID)
	payload, err := json.Marshal(e)
	switch {
	case err != nil:
		own(w, http.StatusInternalServerError, "Internal Server Error")
		return
	case len(payload) > function.MaxPayload:
		own(w, http.StatusRequestEntityTooLarge, "Request Too Long")
		return
	}
	result, err := a.Function.Invoke(a.Lifetime, payload)
	if err != nil {
		own(w, http.StatusServiceUnavailable, "Service Unavailable")
		return
	}
	answer(w, result)
}

// answer writes the function's answer, or API Gateway's own in its place.
func answer(w http.ResponseWriter, result function.Result) {
	var response events.APIGatewayV2HTTPResponse
	err := json.Unmarshal(result.Payload, &response)
	body := []byte(response.Body)
	if err == nil && response.IsBase64Encoded {
		body, err = base64.StdEncoding.DecodeString(response.Body)
	}
	if err != nil || result.Error != "" || response.StatusCode < 200 || response.StatusCode > 599 {
		own(w, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	for name, value := range response.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range response.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	if w.Header().Get("Content-Type") == "" && len(body) > 0 {
		w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	}
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body) // the client may have left
}

// own writes an answer of API Gateway itself.
func own(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+message+`"}`) // the client may have left
}
