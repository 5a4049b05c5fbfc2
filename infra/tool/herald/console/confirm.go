package console

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
)

// confirmPage is the page of a question: about one name, about ids that were ticked, or about a selection, which it
// counts.
func confirmPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	if named, known := namedActs[q.Get("act")]; known {
		return named.asked(ctx, s, q)
	}
	act, known := manyActs[q.Get("act")]
	if !known {
		return nil, fmt.Errorf("no such act: %q", q.Get("act"))
	}
	ask := question{Function: act.function(), Typed: act.deletes}
	ask.Hidden = []parts.Field{{Name: "act", Value: q.Get("act")}}
	if len(q[act.id]) > 0 {
		return s.askTicked(ctx, q, act, ask)
	}
	if q.Get(ticked) != "" { // else everything would be selected
		return nil, errors.New("no box was ticked")
	}
	v, err := s.survey(ctx, q, act)
	if err != nil {
		return nil, err
	}
	return v.complete(ctx, ask)
}
