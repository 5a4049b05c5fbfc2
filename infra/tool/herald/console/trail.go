package console

import (
	"context"
	"net/url"
	"slices"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// acted are acts in a span of time.
type acted struct {
	Lists []parts.Section
	More  bool // later acts are missing
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
	var changes, looks []parts.Act
	for _, row := range slices.Backward(together(lines)) {
		if row.IsLook() {
			looks = append(looks, row)
		} else {
			changes = append(changes, row)
		}
	}
	list := func(title, empty string, rows []parts.Act) parts.Section {
		return parts.Section{Title: title, List: s.site.ActList(query, rows).Or(empty + " in the last " + name + ".")}
	}
	return acted{[]parts.Section{
		list("Changes", "No operator changed anything", changes), list("Looks", "No operator opened anything", looks),
	}, more}, nil
}

// together makes one row of all lines of a request that acts on many ids.
func together(acts []stack.Act) (rows []parts.Act) {
	type request struct{ id, action string }
	at := map[request]int{}
	for _, act := range acts {
		of := request{act.RequestID, act.Action}
		if n, known := at[of]; known && act.RequestID != "" {
			rows[n].IDs++
			continue
		}
		at[of] = len(rows)
		rows = append(rows, parts.Act{Act: act, IDs: 1})
	}
	return rows
}
