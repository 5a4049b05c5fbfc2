package console

import (
	"context"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// ask asks for an action, and returns the fields of the answer.
func ask[Request, Answer any](
	ctx context.Context, s *Server, action api.Action[Request, Answer], request Request,
) (Answer, error) {
	answer, err := stack.Ask(ctx, s.Stack, action, request)
	return answer.Fields, err
}

// few is the page of a list that is shown beside something else.
var few = api.Page{Limit: new(20)}
