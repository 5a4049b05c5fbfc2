package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// Functions asks the operator functions of one stack.
type Functions interface {
	// Invoke sends one request, and returns its answer as it came. A refusal is an answer.
	Invoke(ctx context.Context, q Question) (answer jsontext.Value, err error)
}

// Question is a request to an operator function.
type Question struct {
	Function api.Function
	Action   string
	Request  any // of the action's type

	// Encode writes the request of an operator.
	Encode func(operator string) ([]byte, error)
}

// Ask asks for an action, and returns the answer. A refusal is an *[api.Refusal].
func Ask[Request, Answer any](
	ctx context.Context, functions Functions, action api.Action[Request, Answer], request Request,
) (answer answers.Answer[Answer], err error) {
	answer.JSON, err = functions.Invoke(ctx, Question{
		Function: action.Function, Action: action.Name, Request: request,
		Encode: func(operator string) ([]byte, error) { return action.Encode(operator, request) },
	})
	if err != nil {
		return answer, err
	}
	answer.Fields, err = action.Decode(answer.JSON)
	if refusal, refused := errors.AsType[*api.Refusal](err); refused {
		return answer, refusal // the operator knows the request
	}
	return answer, err
}

// Invoke sends one request to an operator function, as [Functions] says.
func (s Stack) Invoke(ctx context.Context, q Question) (jsontext.Value, error) {
	payload, err := q.Encode(s.Operator)
	if err != nil {
		return nil, err
	}
	name := s.Functions[string(q.Function)]
	if name == "" {
		return nil, exit.With(exit.Failed, "the stack %s has no %s, as it is of an older version: deploy this version first",
			s.Name, q.Function)
	}
	answer, err := client.InvokeFunction(ctx, s.Lambda, name, payload)
	if failed, is := errors.AsType[*client.Fault](err); is {
		log, _, _ := strings.Cut(name, ":") // an alias has none
		return nil, exit.With(exit.Failed, "%s%s\nIts log: aws logs tail /aws/lambda/%s --filter-pattern '\"%s\"'",
			q.Function, fault(q, failed), log, failed.RequestID)
	}
	if err != nil {
		return nil, s.Explain("invoking "+string(q.Function), err)
	}
	return answer, nil
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
func fault(q Question, failed *client.Fault) string {
	text := " failed: " + answers.Safe(failed.Reason()) // a panic may quote what a tenant wrote
	if strings.Contains(failed.Message, "timed out") {  // Lambda says so, and the function itself
		text = " ran out of time: select less, or ask again later"
	}
	if q.onlyLooks() {
		return text + ". Nothing was started. Asking again is safe."
	}
	return text + ". Asking again is safe."
}

// onlyLooks reports whether a request changes nothing.
func (q Question) onlyLooks() bool {
	switch r := q.Request.(type) {
	case api.StartJobRequest:
		return r.DryRun
	case api.EraseRequest:
		return r.DryRun
	case api.ImportRequest:
		return r.DryRun
	}
	return q.Function == api.Inspect
}

// MaxPage is the most that one answer of a list has.
const MaxPage = 100

// All reads pages until the list has ended or has limit rows. request makes the request for a page. A list without
// pages ends with its first answer.
func All[Request any, Answer interface{ Rows() []Row }, Row any](
	ctx context.Context, functions Functions, action api.Action[Request, Answer], limit int,
	request func(api.Page) Request,
) (answers.List[Row], error) {
	var rows []jsontext.Value
	for page := (api.Page{}); ; {
		page.Limit = new(min(limit-len(rows), MaxPage))
		answer, err := Ask(ctx, functions, action, request(page))
		if err != nil {
			return answers.List[Row]{}, err
		}
		last, err := answers.Read[answers.Page](answer.JSON)
		if err != nil {
			return answers.List[Row]{}, fmt.Errorf("%s of %s: %w", action.Name, action.Function, err)
		}
		rows = append(rows, last.Fields.Data...)
		last.Fields.Data = rows
		if last.Fields.NextCursor == nil || len(rows) >= limit {
			return answers.Listed[Row](last.Fields)
		}
		page.Cursor = *last.Fields.NextCursor
	}
}

// OrDead limits a selection to dead letters with the status dead. A selection by tenant, endpoint or status stays as it
// is.
func OrDead(s api.Selector) api.Selector {
	if s.TenantID == "" && s.EndpointID == "" && s.Status == "" {
		s.Status = string(deadletter.Dead)
	}
	return s
}
