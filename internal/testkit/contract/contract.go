// Package contract checks exchanges over HTTP against infra/openapi.yaml.
//
// It promises that an answer of an undocumented status, header, shape, value or code, and an
// accepted request or a delivery of an undocumented shape, are found. It is for tests and is not
// part of the service.
package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/go-json-experiment/json"
)

// Contract is the loaded description of the management API.
type Contract struct {
	document *openapi3.T
	router   routers.Router
}

// Load reads and validates the description, its examples included.
func Load(path string) (*Contract, error) {
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	document.Servers = nil // paths are the same everywhere
	router, err := legacy.NewRouter(document, openapi3.EnableExamplesValidation())
	if err != nil {
		return nil, fmt.Errorf("validating %s: %w", path, err)
	}
	if err := tighten(document); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &Contract{document: document, router: router}, nil
}

// Exchange is one request and its answer.
type Exchange struct {
	Method, Target string // Target is path and query
	RequestHeader  http.Header
	RequestBody    []byte
	Status         int
	ResponseHeader http.Header
	ResponseBody   []byte
}

// Check returns an exchange's violations: an answer must be documented, and so must a request that was accepted.
// Paths and methods that do not exist must be refused with a problem document.
func (c *Contract) Check(x Exchange) error {
	path, query, _ := strings.Cut(x.Target, "?")
	target := &url.URL{Path: path, RawQuery: query} // taken as it is: tests send targets that url.Parse refuses
	if len(bytes.TrimSpace(x.RequestBody)) == 0 {
		x.RequestBody = nil
	}
	req := (&http.Request{
		Method: x.Method, URL: target, Header: x.RequestHeader, ContentLength: int64(len(x.RequestBody)),
		Body: io.NopCloser(bytes.NewReader(x.RequestBody)),
	}).WithContext(context.Background())
	route, params, err := c.router.FindRoute(req)
	// The router forgives an empty segment, and an extra or missing slash.
	if err != nil || strings.Contains(path, "//") || strings.Count(path, "/") != strings.Count(route.Path, "/") {
		return c.checkUnrouted(x)
	}
	// Some clients send null in place of the body that they leave out. A generator of clients cannot tell that apart from
	// a body of two types, so that only the text of the description says it.
	described := route.Operation.RequestBody
	isNull := string(bytes.TrimSpace(x.RequestBody)) == "null"
	if isNull && described != nil && !described.Value.Required {
		req.Body = http.NoBody
		req.ContentLength = 0
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true,
		},
	}
	if x.Status < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			return fmt.Errorf("%s %s: accepted, but not as documented: %w", x.Method, x.Target, err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: x.Status, Header: x.ResponseHeader, Options: in.Options,
	}
	out.SetBodyBytes(x.ResponseBody)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return fmt.Errorf("%s %s: answered %d, but not as documented: %w", x.Method, x.Target, x.Status, err)
	}
	if err := checkFault(x, in); err != nil {
		return fmt.Errorf("%s %s: answered with an undocumented fault: %w", x.Method, x.Target, err)
	}
	return nil
}

func (c *Contract) checkUnrouted(x Exchange) error {
	statuses := []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusServiceUnavailable, http.StatusTooManyRequests}
	if !slices.Contains(statuses, x.Status) {
		return fmt.Errorf("%s %s is not documented and answered %d", x.Method, x.Target, x.Status)
	}
	var problem map[string]any
	if err := decodeJSON(x.ResponseBody, &problem); err != nil {
		return fmt.Errorf("%s %s: %w", x.Method, x.Target, err)
	}
	schema := c.document.Components.Schemas["Problem"]
	if schema == nil {
		return errors.New("the description has no schema Problem")
	}
	if err := schema.Value.VisitJSON(problem, openapi3.EnableJSONSchema2020()); err != nil {
		return fmt.Errorf("%s %s: the answer is not a problem document: %w", x.Method, x.Target, err)
	}
	return nil
}

func decodeJSON(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("decoding answer %q: %w", body, err)
	}
	return nil
}
