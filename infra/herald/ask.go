package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// fields are a request's, but for action and operator.
type fields = row

// Ask sends one request to an operator function, and returns its answer. Empty fields are left out.
func (s stack) Ask(ctx context.Context, function, action string, f fields) (answer row, err error) {
	request := fields{"action": action, "operator": s.operator}
	maps.Copy(request, f)
	maps.DeleteFunc(request, func(_ string, v any) bool { return v == "" || v == nil || v == false })
	payload, err := json.Marshal(request, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	name := s.functions[function]
	out, err := s.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: payload})
	if err != nil {
		return nil, s.explain("invoking "+function, err)
	}
	if out.FunctionError != nil {
		id, _ := middleware.GetRequestIDMetadata(out.ResultMetadata)
		log, _, _ := strings.Cut(name, ":") // an alias has none
		return nil, fail(exitFailed, "%s%s\nIts log: aws logs tail /aws/lambda/%s --filter-pattern '\"%s\"'",
			function, fault(function, f, out.Payload), log, id)
	}
	err = client.Decode(function, out.Payload, &answer)
	return answer, err
}

// May is nil if the caller may invoke a function, which is not invoked.
func (s stack) May(ctx context.Context, function string) error {
	_, err := s.lambda.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: aws.String(s.functions[function]), InvocationType: types.InvocationTypeDryRun,
	})
	if err != nil {
		return s.explain("invoking "+function, err)
	}
	return nil
}

// fault says how a function failed, and whether that may have changed anything.
func fault(function string, request fields, answer []byte) string {
	var told struct {
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		told.Message = "it gave no reason"
	}
	text := " failed: " + told.Message
	if strings.Contains(told.Message, "timed out") { // Lambda says so, and the function itself
		text = " ran out of time: select less, or ask again later"
	}
	if function == "inspect" || request["dry_run"] == true {
		return text + ". Nothing was started. Asking again is safe."
	}
	return text + ". Asking again is safe."
}

// row is one object of an answer.
type row = map[string]any

// maxPage is the most that one answer of a list has.
const maxPage = 100

// all reads pages until the list has ended or has limit rows, unless it is by event. Its answer is the last page with
// the rows of all: a cursor says that there are others.
func (s stack) all(ctx context.Context, function, action string, f fields, limit int) (list row, err error) {
	f = maps.Clone(f)
	var rows []any
	for {
		if f["event"] == nil && f["event_id"] == nil { // a list by event has no pages
			f["limit"] = min(limit-len(rows), maxPage)
		}
		if list, err = s.Ask(ctx, function, action, f); err != nil {
			return nil, err
		}
		page, _ := list["data"].([]any)
		rows = append(rows, page...)
		list["data"] = rows
		if list["next_cursor"] == nil || len(rows) >= limit {
			return list, nil
		}
		f["cursor"] = list["next_cursor"]
	}
}
