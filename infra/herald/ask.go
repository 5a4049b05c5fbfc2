package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// fields are a request's, but for action and operator. Empty strings are left out.
type fields = row

// refusal is a function's own "no".
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Is tells the console of an id that nothing has.
func (r *refusal) Is(target error) bool {
	return target == console.ErrNotFound && r.Code == "not_found"
}

func (r *refusal) Error() string {
	if r.Field == "" {
		return r.Message
	}
	return r.Field + ": " + r.Message
}

// Ask sends one request to an operator function and decodes its answer into out, unless that is nil.
func (s stack) Ask(ctx context.Context, function, action string, f fields, out any) error {
	request := fields{"action": action, "operator": s.operator}
	maps.Copy(request, f)
	maps.DeleteFunc(request, func(_ string, v any) bool { return v == "" || v == nil })
	payload, err := json.Marshal(request, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	answer, err := s.invoke(ctx, function, payload)
	if err != nil {
		return err
	}
	var refused struct {
		Error *refusal `json:"error"`
	}
	if err := json.Unmarshal(answer, &refused); err != nil {
		return fmt.Errorf("%s answered no JSON: %w", function, err)
	}
	if refused.Error != nil {
		return refused.Error
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			return fmt.Errorf("reading the answer of %s: %w", function, err)
		}
	}
	return nil
}

// row is one object of an answer.
type row = map[string]any

// page is the answer of a list.
type page = console.List

// maxPage is the most that one answer of a list has.
const maxPage = 100

// all reads a list's pages until it has ended or limit rows are read; more says that there are others.
func (s stack) all(ctx context.Context, function, action string, f fields, limit int) (p page, more bool, err error) {
	f = maps.Clone(f)
	for {
		f["limit"] = min(limit-len(p.Data), maxPage)
		var next page
		if err := s.Ask(ctx, function, action, f, &next); err != nil {
			return p, false, err
		}
		p.Data, p.Note = append(p.Data, next.Data...), next.Note
		if next.Next == nil {
			return p, false, nil
		}
		if len(p.Data) >= limit {
			return p, true, nil
		}
		f["cursor"] = *next.Next
	}
}

// exit is the exit code of a refusal: a mistake of the caller's is a matter of usage.
func (r *refusal) exit() int {
	switch r.Code {
	case "invalid_field", "unknown_field", "invalid_json", "unknown_action", "invalid_cursor":
		return exitUsage
	}
	return exitFailed
}
