package console

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
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
	rows := together(actRows(lines))
	slices.Reverse(rows)
	t := s.site.ActList(query, rows).Or("No operator changed anything in the last " + name + ".")
	return spanned{t, name, more}, nil
}

// together makes one row of all lines of a request that acts on many ids, with their number as count.
func together(lines []answers.Row) (rows []answers.Row) {
	for _, line := range lines {
		if last := len(rows) - 1; last >= 0 && line["request_id"] != nil &&
			line["request_id"] == rows[last]["request_id"] && line["action"] == rows[last]["action"] {
			rows[last]["count"] = rows[last]["count"].(int) + 1
			continue
		}
		line["count"] = 1
		rows = append(rows, line)
	}
	return rows
}

func compareText(a, b answers.Row, field string) int {
	return cmp.Compare(answers.Text(a, field), answers.Text(b, field))
}
