package console

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
)

// keysPage lists a tenant's keys, and otherwise tenants to choose from.
func keysPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	f := pick(q, "tenant_id", "cursor")
	if f["tenant_id"] == nil {
		tenants, err := s.tenants(ctx, "/keys")
		return list{Table: tenants, Note: "Choose a tenant."}, err
	}
	found, err := s.ask(ctx, "apikeys", "list", f)
	if err != nil {
		return nil, err
	}
	t := s.site.KeyList(q, found).Or("The tenant has no keys. They are issued on the command line.")
	return list{Table: t.Then(s.nextPage("/keys", q, found))}, nil
}

// tenants are those that are known without a list of all, which no index has: of endpoints in trouble, of causes of
// death, and of operators' acts of the last week.
func (s *Server) tenants(ctx context.Context, path string) (*parts.Table, error) {
	troubled, err := s.ask(ctx, "inspect", "endpoints", answers.Row{"limit": 100})
	if err != nil {
		return nil, err
	}
	causes, err := s.ask(ctx, "inspect", "causes", nil)
	if err != nil {
		return nil, err
	}
	acts, _, err := s.Trail.Acts(ctx, s.Now().Add(-7*24*time.Hour))
	if err != nil {
		return nil, err
	}
	known := map[string][]string{}
	note := func(rows []answers.Row, from string) {
		for _, r := range rows {
			id := answers.Text(r, "tenant_id")
			if id != "" && !slices.Contains(known[id], from) {
				known[id] = append(known[id], from)
			}
		}
	}
	note(answers.Rows(troubled), "has an endpoint in trouble")
	note(answers.Rows(causes), "has dead letters")
	note(actRows(acts), "an operator acted for it this week")
	var rows []answers.Row
	for id, why := range known {
		told := make([]any, len(why))
		for n, w := range why {
			told[n] = w
		}
		rows = append(rows, answers.Row{"tenant_id": id, "why": told})
	}
	slices.SortFunc(rows, func(a, b answers.Row) int { return compareText(a, b, "tenant_id") })
	t := parts.NewTable(url.Values{}, rows, s.site.TenantColumn(), parts.TextColumn("why it is here", "why", "wide", ""))
	for n, r := range rows {
		t.Rows[n].Cells[0].Link = s.site.Link(path, "tenant_id", r["tenant_id"])
	}
	return t.Or("No tenant is in trouble, and none was acted for this week: name one above."), nil
}
