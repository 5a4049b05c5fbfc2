package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

// fields are a request's, but for action and operator. Empty strings are left out.
type fields = row

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
	return client.Decode(function, answer, out)
}

// row is one object of an answer.
type row = map[string]any

// page is the answer of a list.
type page = console.List

// maxPage is the most that one answer of a list has.
const maxPage = 100

// all reads pages until the list has ended or has limit rows, unless it is by event; more says that there are others.
func (s stack) all(ctx context.Context, function, action string, f fields, limit int) (p page, more bool, err error) {
	f = maps.Clone(f)
	for {
		if f["event"] == nil && f["event_id"] == nil { // a list by event has no pages
			f["limit"] = min(limit-len(p.Data), maxPage)
		}
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
