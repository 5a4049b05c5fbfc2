package webhooks

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// readText reads a contact or a description: texts for people, who see them in a terminal and on pages.
func readText(v management.Member[string], pointer string, r *reader) string {
	text, ok := r.text(v.Value, pointer)
	if !ok {
		return ""
	}
	if err := endpoint.CheckText(text); err != nil {
		r.refuse(pointer, err.Error())
	}
	return text
}

// readMetadata reads an object of texts. It returns nil for an empty one.
func readMetadata(v management.Member[management.Metadata], r *reader) map[string]string {
	const pointer = "/metadata"
	var values map[string]jsontext.Value
	if v.Kind() != '{' || json.Unmarshal(v.Value, &values) != nil {
		r.mistyped(pointer, "must be an object of strings")
		return nil
	}
	if len(values) == 0 {
		return nil
	}
	pairs := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := shortened(string(jsontext.Pointer(pointer).AppendToken(name)))
		text, ok := r.text(values[name], at)
		if !ok {
			continue
		}
		pairs[name] = text
		if err := endpoint.CheckPair(name, text); err != nil {
			r.refuse(at, err.Error())
		}
	}
	if err := endpoint.CheckMetadata(pairs); err != nil {
		r.refuse(pointer, err.Error())
	}
	return pairs
}

// told returns an endpoint with what its owner says about it.
func (h *Handler) told(ctx context.Context, e endpoint.Endpoint) (endpoint.Endpoint, error) {
	all, err := h.Endpoints.About(ctx, e)
	if err != nil {
		return endpoint.Endpoint{}, err
	}
	return all[0], nil
}
