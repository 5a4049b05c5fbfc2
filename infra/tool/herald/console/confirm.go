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
	if ids := q[act.id]; len(ids) > 0 {
		ask.Count = len(ids)
		for _, id := range ids {
			ask.Hidden = append(ask.Hidden, parts.Field{Name: act.id, Value: id})
		}
		these := parts.IDs(s.site, "these", idPages[act.id], act.id, func(id string) string { return id })
		ask.Lists = []parts.Section{{List: parts.NewTable(url.Values{}, ids, these)}}
		return ask.ask(act), nil
	}
	if q.Get("ticked") != "" { // else everything would be selected
		return nil, errors.New("no box was ticked")
	}
	v, err := s.survey(ctx, q, act)
	if err != nil {
		return nil, err
	}
	return v.complete(ctx, ask)
}
