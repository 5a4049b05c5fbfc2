package console

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/answers"
)

// done lists operators' actions, the latest first.
type done struct {
	Span string
	Rows []answers.Row
	More bool
}

func acts(ctx context.Context, s *Server, query url.Values) (any, error) {
	d := done{Span: query.Get("span")}
	span, ok := spans[d.Span]
	if !ok {
		d.Span, span = "day", spans["day"]
	}
	lines, more, err := s.Trail.Acts(ctx, s.Now().Add(-span.Step*time.Duration(span.Steps)))
	if err != nil {
		return nil, err
	}
	d.Rows, d.More = together(lines), more
	slices.Reverse(d.Rows)
	return d, nil
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
