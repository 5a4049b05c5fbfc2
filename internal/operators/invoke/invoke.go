// Package invoke is the common part of the operator functions (apikeys, control, inspect, replay, webhooks): JSON
// in, JSON out, invoked by IAM principals.
//
// It promises that every request names its operator, that a field that is unknown or empty is refused and
// not ignored, that a tenant's id has an id's form, that a refused request is an answer ({"error":{code, message,
// field}}) while an internal error is a Lambda error without its detail, and that each invocation leaves one log line
// with operator, action and ids, and each change an audit line before it is made. It never logs a body, a key or a
// cursor.
package invoke

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/cursor"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// Call is an action's view of its invocation, besides the request.
type Call struct {
	Operator string
	Now      time.Time
	action   string
	audit    audit.Writer
	attrs    []slog.Attr
}

// Note adds to the invocation's log line: ids, counts and results only.
func (c *Call) Note(attrs ...slog.Attr) { c.attrs = append(c.attrs, attrs...) }

// Audit keeps lines about the changes to come. Where it fails, nothing may be changed.
func (c *Call) Audit(ctx context.Context, lines ...audit.Line) error {
	if len(lines) == 0 {
		return nil
	}
	for i, line := range lines {
		lines[i].OperatorClaimed = cmp.Or(line.OperatorClaimed, c.Operator)
		lines[i].Action = cmp.Or(line.Action, c.action)
	}
	return c.audit.Write(ctx, lines...)
}

// Action is one entry of a function's action table. Serve makes them.
type Action func(ctx context.Context, call *Call, payload []byte) (any, error)

// typed makes an action of a typed function. Req's fields are the request's besides action and operator; unknown and
// empty ones are refused. A refusal by do and cursor.ErrInvalid are answered, any other error is a Lambda error.
// A field of the wrong name is refused, since a filter that is ignored would make a request act on more than was meant.
func typed[Req, Res any](do func(ctx context.Context, call *Call, req Req) (Res, error)) Action {
	return func(ctx context.Context, call *Call, payload []byte) (any, error) {
		var request api.Envelope[Req]
		if err := json.Unmarshal(payload, &request, json.RejectUnknownMembers(true)); err != nil {
			return nil, refuseJSON(err, payload, fieldsOf(reflect.TypeOf(request))...)
		}
		if err := checkFields(payload); err != nil {
			return nil, err
		}
		res, err := do(ctx, call, request.Fields)
		if errors.Is(err, cursor.ErrInvalid) {
			err = Refuse(api.CodeInvalidCursor, "cursor", "not a next_cursor of this list")
		}
		return res, err
	}
}

// Entry is an action with its name. Make it with Serve.
type Entry struct {
	name   string
	action Action
}

// Serve makes the entry of an action. Its request and its answer are those that clients see.
func Serve[Req, Ans any](
	a api.Action[Req, Ans], do func(ctx context.Context, call *Call, req Req) (Ans, error),
) Entry {
	return Entry{a.Name, typed(do)}
}

// Table has actions by their names.
func Table(entries ...Entry) map[string]Action {
	table := make(map[string]Action, len(entries))
	for _, e := range entries {
		table[e.name] = e.action
	}
	return table
}

// Function is an operator function. It implements lambda.Handler.
type Function struct {
	Name    string // folder name, for the log
	Actions map[string]Action
	Audit   audit.Writer // nil where no action changes anything
	Log     *slog.Logger
	Now     func() time.Time
}

// All that a caller learns about an internal error.
var (
	errInternal = errors.New("internal error: see the function's log under this request id")
	errLate     = errors.New("timed out: ask again, or select less; see the function's log under this request id")
)

// Invoke runs one action. Any error is errInternal, or errLate where AWS or the action took too long. A refusal is no
// error to Lambda, so that it is neither repeated nor counted as a failure of the function. The detail of an internal
// error may hold names of resources, and stays in the log.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	started := f.Now()
	call := &Call{Now: started.UTC(), audit: f.Audit}
	var name string
	var out []byte
	err := parallel.Guard(func() (runErr error) {
		var answer any
		name, answer, runErr = f.run(ctx, call, payload)
		if runErr == nil {
			out, runErr = api.EncodeAnswer(answer)
		}
		return runErr
	})
	f.report(ctx, call, name, started, err)
	var refusal *api.Refusal
	switch {
	case errors.As(err, &refusal):
		return api.EncodeAnswer(api.Refused{Error: refusal})
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errLate
	case err != nil:
		return nil, errInternal
	}
	return out, nil
}

// run reads action and operator, and hands over to the action.
func (f *Function) run(ctx context.Context, call *Call, payload []byte) (name string, answer any, err error) {
	var head struct {
		Action   string `json:"action"`
		Operator string `json:"operator"`
		TenantID string `json:"tenant_id"`
	}
	if err := json.Unmarshal(payload, &head); err != nil {
		return "", nil, refuseJSON(err, payload)
	}
	// JSON's null is decoded without an error, and leaves all fields empty.
	if jsontext.Value(payload).Kind() != '{' {
		return "", nil, Refuse(api.CodeInvalidJSON, "", "the request must be a JSON object")
	}
	if !printable(head.Operator) {
		return "", nil, Invalid("operator", "must say who asks, in 1 to 256 printable characters")
	}
	if head.TenantID != "" && !event.ValidTenantID(head.TenantID) {
		return "", nil, Invalid("tenant_id", event.TenantIDRule)
	}
	call.Operator, call.action = head.Operator, head.Action
	action, ok := f.Actions[head.Action]
	if !ok {
		known := slices.Sorted(maps.Keys(f.Actions))
		return "", nil, Refuse(api.CodeUnknownAction, "action", "must be one of "+strings.Join(known, ", "))
	}
	answer, err = action(ctx, call, payload)
	return head.Action, answer, err
}

// report writes the one line of an invocation, refused and failed ones included.
func (f *Function) report(ctx context.Context, call *Call, action string, started time.Time, err error) {
	attrs := append([]slog.Attr{
		slog.String("function", f.Name),
		slog.String(telemetry.KeyAction, action),
		slog.String(telemetry.KeyOperator, call.Operator),
		slog.Int64(telemetry.KeyMillis, f.Now().Sub(started).Milliseconds()),
	}, call.attrs...)
	level, outcome := slog.LevelInfo, "answered"
	var refusal *api.Refusal
	switch {
	case errors.As(err, &refusal):
		outcome = "refused"
		attrs = append(attrs, slog.String(telemetry.KeyReason, string(refusal.Code)), slog.String("field", refusal.Field))
	case err != nil:
		level, outcome = slog.LevelError, "failed"
		attrs = append(attrs, telemetry.Cause(err))
	}
	f.Log.LogAttrs(ctx, level, "operator", append(attrs, slog.String(telemetry.KeyOutcome, outcome))...)
}
