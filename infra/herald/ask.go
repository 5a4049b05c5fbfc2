package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// fields are a request's, but for action and operator. Empty strings are left out.
type fields = row

// Ask sends one request to an operator function, and returns its answer.
func (s stack) Ask(ctx context.Context, function, action string, f fields) (answer row, err error) {
	request := fields{"action": action, "operator": s.operator}
	maps.Copy(request, f)
	maps.DeleteFunc(request, func(_ string, v any) bool { return v == "" || v == nil })
	payload, err := json.Marshal(request, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	text, err := s.invoke(ctx, function, payload)
	if err == nil {
		err = client.Decode(function, text, &answer)
	}
	return answer, err
}

// row is one object of an answer.
type row = map[string]any

// maxPage is the most that one answer of a list has.
const maxPage = 100

// all reads pages until the list has ended or has limit rows, unless it is by event. Its answer is the last page with
// the rows of all: a cursor says that there are others.
func (s stack) all(ctx context.Context, function, action string, f fields, limit int) (list row, err error) {
	f = maps.Clone(f)
	for rows := []any(nil); ; f["cursor"] = list["next_cursor"] {
		if f["event"] == nil && f["event_id"] == nil { // a list by event has no pages
			f["limit"] = min(limit-len(rows), maxPage)
		}
		if list, err = s.Ask(ctx, function, action, f); err != nil {
			return nil, err
		}
		page, _ := list["data"].([]any)
		rows = append(rows, page...)
		if list["data"] = rows; list["next_cursor"] == nil || len(rows) >= limit {
			return list, nil
		}
	}
}
