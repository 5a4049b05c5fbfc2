package console

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
)

// sharesPage has the tenants' parts of the last hour's attempts and of their time.
func sharesPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	now := s.Now()
	shares, err := s.Log.Shares(ctx, now.Add(-time.Hour), now)
	if err != nil {
		return nil, err
	}
	all, rows := answers.Row{}, shareRows(shares)
	for _, r := range rows {
		for _, name := range []string{"attempts", "total"} {
			all[name] = answers.Number(all, name) + answers.Number(r, name)
		}
	}
	part := func(title, name string) parts.Column {
		return parts.Column{Title: title, Class: "n", Cell: func(r answers.Row) parts.Cell {
			return parts.Cell{Text: fmt.Sprintf("%.1f %%", 100*answers.Number(r, name)/max(answers.Number(all, name), 1))}
		}}
	}
	seconds := parts.Column{Title: "seconds", Class: "n", Cell: func(r answers.Row) parts.Cell {
		return parts.Cell{Text: fmt.Sprintf("%.1f", answers.Number(r, "total")/1000)}
	}}
	t := parts.NewTable(q, rows, s.site.TenantColumn(), parts.Amount("attempts", "attempts"),
		part("share of attempts", "attempts"), seconds, part("share of time", "total"))
	return list{Table: t.Or("No attempt in the last hour.")}, nil
}
