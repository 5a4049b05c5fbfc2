package console

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/answers"
)

// sharesPage has the tenants' parts of the last hour's attempts and of their time.
func sharesPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	now := s.Now()
	rows, err := s.Log.Shares(ctx, now.Add(-time.Hour), now)
	if err != nil {
		return nil, err
	}
	all := answers.Row{}
	for _, r := range rows {
		for _, name := range []string{"attempts", "total"} {
			all[name] = answers.Number(all, name) + answers.Number(r, name)
		}
	}
	part := func(title, name string) column {
		return column{title: title, class: "n", cell: func(r answers.Row) cell {
			return cell{Text: fmt.Sprintf("%.1f %%", 100*answers.Number(r, name)/max(answers.Number(all, name), 1))}
		}}
	}
	seconds := column{title: "seconds", class: "n", cell: func(r answers.Row) cell {
		return cell{Text: fmt.Sprintf("%.1f", answers.Number(r, "total")/1000)}
	}}
	t := listed(q, rows, s.tenantColumn(), amount("attempts", "attempts"), part("share of attempts", "attempts"), seconds,
		part("share of time", "total"))
	return list{table: t.or("No attempt in the last hour.")}, nil
}
