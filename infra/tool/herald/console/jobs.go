package console

import (
	"context"
	"fmt"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
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
	e, err := stack.EndpointOf(ctx, s.Stack, j.Fields.Selector.TenantID, j.Fields.Selector.EndpointID)
	if err != nil {
		return nil, err
	}
	shown := detailOf(s.site.JobPage(j, e), j.JSON)
	shown.More = progressOf(j)
	for n := range shown.Lists {
		shown.Lists[n].List.Then(s.nextPage("/job", q, j.Failures.NextCursor))
	}
	return shown, nil
}
