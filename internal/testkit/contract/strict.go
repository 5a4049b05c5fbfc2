package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// tighten makes the description strict, so that this version of the service must answer exactly as it says. The
// published description leaves room: clients must expect new fields and new values. Only URLs may still go beyond their
// pattern, as their description says.
func tighten(document *openapi3.T) error {
	for name, schema := range document.Components.Schemas {
		if err := tightenSchema(schema); err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
	}
	for name, item := range document.Webhooks {
		if err := tightenSchema(item.Post.RequestBody.Value.Content["application/json"].Schema); err != nil {
			return fmt.Errorf("webhook %s: %w", name, err)
		}
	}
	if url := document.Components.Schemas["Url"]; url != nil {
		url.Value.Pattern = ""
	}
	return nil
}

func tightenSchema(s *openapi3.SchemaRef) error {
	if s.Value == nil || s.Ref != "" { // the component is tightened once, under its own name
		return nil
	}
	if listed, ok := s.Value.Extensions["x-extensible-enum"]; ok {
		values, isList := listed.([]any)
		if !isList {
			return fmt.Errorf("x-extensible-enum is a %T, not a list", listed)
		}
		s.Value.Enum = values
	}
	closed := s.Value.AdditionalProperties
	if len(s.Value.Properties) > 0 && closed.Has == nil && closed.Schema == nil {
		no := false
		s.Value.AdditionalProperties.Has = &no
	}
	for name, property := range s.Value.Properties {
		if err := tightenSchema(property); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if s.Value.Items != nil {
		return tightenSchema(s.Value.Items)
	}
	return nil
}

// checkFault compares a problem document with its answer: the statuses are equal, and the answer has an example of
// its code.
func checkFault(x Exchange, in *openapi3filter.RequestValidationInput) error {
	if x.ResponseHeader.Get("Content-Type") != problem.MediaType {
		return nil
	}
	var said struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
	}
	if err := decodeJSON(x.ResponseBody, &said); err != nil {
		return err
	}
	codes := codesOf(in.Route.Operation.Responses.Status(x.Status))
	if said.Status != x.Status || !slices.Contains(codes, said.Code) {
		return fmt.Errorf("status %d with code %q, status %d is documented with %q",
			said.Status, said.Code, x.Status, codes)
	}
	return nil
}

// codesOf are the codes of a documented answer, sorted: each has an example that is named after it.
func codesOf(answer *openapi3.ResponseRef) []string {
	media := answer.Value.Content[problem.MediaType]
	if media == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(media.Examples))
}

// Codes are all codes that the description names for a route, such as "GET /v1/webhooks", sorted.
func (c *Contract) Codes(route string) (codes []string) {
	method, path, _ := strings.Cut(route, " ")
	for _, answer := range c.document.Paths.Value(path).GetOperation(method).Responses.Map() {
		codes = append(codes, codesOf(answer)...)
	}
	slices.Sort(codes)
	return codes
}
