package console

import (
	"context"
	"net/url"
	"slices"
	"time"
)

// Trail reads a stack's audit log.
type Trail interface {
	// Acts are the audit lines of operators since then, the oldest first, with the time as at. Of jobs, it has the
	// start and no single ids. more says that later lines are missing.
	Acts(ctx context.Context, since time.Time) (lines []map[string]any, more bool, err error)
}

// ago is how far back each span of the view looks.
var ago = map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// done lists operators' actions, the latest first.
type done struct {
	Span string
	Rows []row
	More bool
}

func acts(ctx context.Context, s *Server, query url.Values) (any, error) {
	d := done{Span: query.Get("span")}
	if ago[d.Span] == 0 {
		d.Span = "day"
	}
	lines, more, err := s.Trail.Acts(ctx, s.Now().Add(-ago[d.Span]))
	if err != nil {
		return nil, err
	}
	d.Rows, d.More = together(lines), more
	slices.Reverse(d.Rows)
	return d, nil
}

// together makes one row of all lines of a request that acts on many ids, with their number as count.
func together(lines []row) (rows []row) {
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
