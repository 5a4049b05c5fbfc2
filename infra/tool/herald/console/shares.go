package console

import (
	"context"
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
	return list{Table: s.site.Shares(q, shares, tenants), Note: shares.Meaning()}, nil
}
