package stack

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

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// Functions asks the operator functions of one stack, by the names of their folders.
type Functions interface {
	// Ask sends one request to an operator function, and returns its answer. Empty fields are left out.
	Ask(ctx context.Context, function, action string, fields map[string]any) (answer map[string]any, err error)
}

// Ask sends one request to an operator function, and returns its answer, as [Functions] says.
func (s Stack) Ask(ctx context.Context, function, action string, f answers.Row) (answer answers.Row, err error) {
	request := answers.Row{"action": action, "operator": s.Operator}
	maps.Copy(request, f)
	maps.DeleteFunc(request, func(_ string, v any) bool { return v == "" || v == nil || v == false })
	payload, err := json.Marshal(request, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	name := s.Functions[function]
	out, err := s.Lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: payload})
	if err != nil {
		return nil, s.Explain("invoking "+function, err)
	}
	if out.FunctionError != nil {
		id, _ := middleware.GetRequestIDMetadata(out.ResultMetadata)
		log, _, _ := strings.Cut(name, ":") // an alias has none
		return nil, exit.With(exit.Failed, "%s%s\nIts log: aws logs tail /aws/lambda/%s --filter-pattern '\"%s\"'",
			function, fault(function, f, out.Payload), log, id)
	}
	err = client.Decode(function, out.Payload, &answer)
	return answer, err
}

// May is nil if the caller may invoke a function, which is not invoked.
func (s Stack) May(ctx context.Context, function string) error {
	_, err := s.Lambda.Invoke(ctx, &lambda.InvokeInput{
		FunctionName: aws.String(s.Functions[function]), InvocationType: types.InvocationTypeDryRun,
	})
	if err != nil {
		return s.Explain("invoking "+function, err)
	}
	return nil
}

// fault says how a function failed, and whether that may have changed anything.
func fault(function string, request answers.Row, answer []byte) string {
	var told struct {
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		told.Message = "it gave no reason"
	}
	text := " failed: " + answers.Safe(told.Message) // a panic may quote what a tenant wrote
	if strings.Contains(told.Message, "timed out") { // Lambda says so, and the function itself
		text = " ran out of time: select less, or ask again later"
	}
	if function == "inspect" || request["dry_run"] == true {
		return text + ". Nothing was started. Asking again is safe."
	}
	return text + ". Asking again is safe."
}

// MaxPage is the most that one answer of a list has.
const MaxPage = 100

// All reads pages until the list has ended or has limit rows, unless it is by event. Its answer is the last page with
// the rows of all: a cursor says that there are others.
func All(
	ctx context.Context, functions Functions, function, action string, f answers.Row, limit int,
) (answers.Row, error) {
	f = maps.Clone(f)
	var rows []any
	for {
		if f["event"] == nil && f["event_id"] == nil { // a list by event has no pages
			f["limit"] = min(limit-len(rows), MaxPage)
		}
		list, err := functions.Ask(ctx, function, action, f)
		if err != nil {
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

// OrDead limits a filter to dead letters with the status dead. A filter by tenant, endpoint or status stays as it is.
func OrDead(f answers.Row) answers.Row {
	if f["tenant_id"] == nil && f["endpoint_id"] == nil && f["status"] == nil {
		f["status"] = "dead"
	}
	return f
}
