package console

import (
	"context"
	"maps"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// ask asks for an action by its name.
func (s *Server) ask(ctx context.Context, function, action string, f answers.Row) (answers.Row, error) {
	f = maps.Clone(f)
	maps.DeleteFunc(f, func(_ string, v any) bool { return v == "" || v == nil || v == false })
	of := api.Action[answers.Row, answers.Row]{Function: api.Function(function), Name: action}
	got, err := stack.Ask(ctx, s.Stack, of, f)
	return got.Fields, err
}

// stateIn is the state that a row has.
func stateIn(r answers.Row) api.State { return api.State(answers.Text(r, "state")) }

// actRows are acts as rows.
func actRows(acts []stack.Act) (rows []answers.Row) {
	for _, a := range acts {
		row := answers.Typed[answers.Row](a.Line)
		row["at"] = a.At.Format(time.RFC3339)
		rows = append(rows, row)
	}
	return rows
}

// shareRows are shares as rows.
func shareRows(shares []stack.Share) (rows []answers.Row) {
	for _, s := range shares {
		rows = append(rows, answers.Row{"tenant_id": s.TenantID, "attempts": s.Attempts, "total": s.Millis})
	}
	return rows
}

// jobRows is a job with its outcome and failures as rows.
type jobRows struct{ Job, Outcome, Failures answers.Row }

func rowsOfJob(j stack.Job) jobRows {
	rows := jobRows{Job: answers.Typed[answers.Row](j.JSON)}
	if j.Outcome != nil {
		rows.Outcome = answers.Typed[answers.Row](j.Outcome)
	}
	if j.Failures != nil {
		rows.Failures = answers.Typed[answers.Row](j.Failures.JSON)
	}
	return rows
}

// describeRejected adds columns to a rejected event.
func describeRejected(r answers.Row) (again bool) {
	described := stack.DescribeRejected(answers.Typed[api.RejectedEvent](r))
	r["tenant"], r["type"], r["reason"] = described.Tenant, described.Type, described.Fault
	if described.Valid != "" {
		r["valid"] = described.Valid
	}
	return described.Again()
}
