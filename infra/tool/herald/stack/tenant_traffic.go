package stack

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// TenantTraffic is a tenant's part in the attempts of the last hour, and those of its endpoints.
type TenantTraffic struct {
	Since       time.Time
	Tenant, All Share
	Endpoints   Shares
}

// AttemptLog reads deliver's log ([Insights], [LoggedLines]).
type AttemptLog interface {
	Shares(ctx context.Context, from, until time.Time) (Shares, error)
	EndpointShares(ctx context.Context, tenantID string, from, until time.Time) (Shares, error)
}

// ReadTraffic reads a tenant's traffic by two queries at the same time. Each searches an hour of the log, which AWS
// bills.
func ReadTraffic(ctx context.Context, log AttemptLog, tenantID string, now time.Time) (t TenantTraffic, err error) {
	t.Since = now.Add(-time.Hour)
	var tenants Shares
	errs := parallel.Each(2, 2, func(n int) (err error) {
		if n == 0 {
			tenants, err = log.Shares(ctx, t.Since, now)
			return err
		}
		t.Endpoints, err = log.EndpointShares(ctx, tenantID, t.Since, now)
		return err
	})
	t.Tenant, t.All = tenants.Part(tenantID), tenants.Total()
	return t, cmp.Or(errs...)
}

// Words say how much of all attempts is the tenant's.
func (t TenantTraffic) Words() string {
	return fmt.Sprintf("%s of all attempts of the last hour, %s of their time. %s",
		Percent(t.Tenant.Attempts, t.All.Attempts), Percent(t.Tenant.Millis, t.All.Millis), t.Endpoints.Meaning())
}

// Percent is a part of all.
func Percent(part, all float64) string { return fmt.Sprintf("%.1f %%", 100*part/max(all, 1)) }
