package console

import (
	"context"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// spanned is a list of a span of time.
type spanned struct {
	*parts.Table

	Span string
	More bool // later rows are missing
}

func actsPage(ctx context.Context, s *Server, query url.Values) (any, error) {
	name := query.Get("span")
	span, ok := spans[name]
	if !ok {
		name, span = "day", spans["day"]
	}
	lines, more, err := s.Trail.Acts(ctx, span.from(s.Now()))
	if err != nil {
		return nil, err
	}
	rows := together(lines)
	slices.Reverse(rows)
	t := s.site.ActList(query, rows).Or("No operator changed anything in the last " + name + ".")
	return spanned{t, name, more}, nil
}

// together makes one row of all lines of a request that acts on many ids.
func together(acts []stack.Act) (rows []parts.Act) {
	for _, act := range acts {
		if last := len(rows) - 1; last >= 0 && act.RequestID != "" && act.RequestID == rows[last].RequestID &&
			act.Action == rows[last].Action {
			rows[last].IDs++
			continue
		}
		rows = append(rows, parts.Act{Act: act, IDs: 1})
	}
	return rows
}
