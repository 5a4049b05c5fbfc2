package console

import (
	"context"
	"fmt"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// outcomeParts bounds the requests for a job's outcome on its page: each is about up to 2,000 deliveries.
const outcomeParts = 2

// progress is how far a job has come. Outcome is nil unless it replays.
type progress struct {
	Selected, WorkedOff int
	Words               string
	Outcome             *stack.Outcome
}

func progressOf(j stack.Job) progress {
	of := j.Fields
	words := fmt.Sprintf("%s: %d of %d done", answers.Shown(of.State), of.Done, of.Selected)
	if refused := answers.Reasons(of.Refused); refused != "" {
		words += ", refused: " + refused
	}
	if failed := answers.Reasons(of.Failed); failed != "" {
		words += ", failed: " + failed
	}
	return progress{of.Selected, stack.WorkedOff(of), fmt.Sprintf("%s; %d left", words, of.Left), j.Outcome}
}

func jobPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	j, err := stack.ReadJob(ctx, s.Stack, q.Get("job_id"), q.Get("cursor"), outcomeParts)
	if err != nil {
		return nil, err
	}
	shown := detail{
		Head: s.site.JobHead(j.Fields), Timeline: s.site.JobTimeline(j.Fields), Raw: string(j.JSON), More: progressOf(j),
	}
	if failures := j.Failures; failures != nil && len(failures.Data) > 0 {
		t := s.failureList(q, j.Fields.Act, failures.Data).Then(s.nextPage("/job", q, failures.NextCursor))
		shown.Lists = []parts.Section{{Title: "What it did not do", List: t}}
	}
	return shown, nil
}

// failureList are the ids that a job did not act on. Those of dead letters lead to their pages.
func (s *Server) failureList(q url.Values, act job.Act, failures []api.JobFailure) *parts.Table {
	type row = api.JobFailure
	path := "/letter"
	if act == job.Publish {
		path = ""
	}
	return parts.NewTable(q, failures,
		parts.IDs(s.site, "id", path, "delivery_id", func(f row) string { return f.ID }),
		parts.Text("result", "", "", func(f row) any { return f.Result }),
		parts.Text("reason", "", "", func(f row) any { return f.Reason }))
}
