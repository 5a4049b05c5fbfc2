package console

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// sharesPage has the tenants' parts of the last hour's attempts and of their time.
func sharesPage(ctx context.Context, s *Server, q url.Values) (any, error) {
	now := s.Now()
	shares, err := s.Log.Shares(ctx, now.Add(-time.Hour), now)
	if err != nil {
		return nil, err
	}
	tenants := parts.Tenants(s.site, func(share stack.Share) string { return share.ID })
	return list{Table: shareTable(q, shares, tenants), Note: shares.Meaning()}, nil
}

// shareTable has the attempts of tenants, or of endpoints, their time, and the parts of both.
func shareTable(q url.Values, shares stack.Shares, whose parts.Column[stack.Share]) *parts.Table {
	all := shares.Total()
	part := func(title string, of func(stack.Share) float64) parts.Column[stack.Share] {
		return parts.Column[stack.Share]{Title: title, Class: "n", Cell: func(share stack.Share) parts.Cell {
			return parts.Cell{Text: stack.Percent(of(share), of(all))}
		}}
	}
	seconds := parts.Column[stack.Share]{Title: "seconds", Class: "n", Cell: func(share stack.Share) parts.Cell {
		return parts.Cell{Text: fmt.Sprintf("%.1f", share.Millis/1000)}
	}}
	t := parts.NewTable(q, shares.Parts, whose,
		parts.Amount("attempts", func(share stack.Share) int { return int(share.Attempts) }),
		part("share of attempts", func(share stack.Share) float64 { return share.Attempts }), seconds,
		part("share of time", func(share stack.Share) float64 { return share.Millis }))
	return t.Or("No attempt in the last hour.")
}
