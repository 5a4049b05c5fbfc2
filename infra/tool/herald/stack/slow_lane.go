package stack

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// SlowLane says until when a tenant's deliveries go through the slow lane, which a resume does not end. It is "" if
// they do not.
func SlowLane(ctx context.Context, functions Functions, tenantID string) string {
	t, err := Ask(ctx, functions, api.GetTenant, api.TenantRequest{TenantID: tenantID})
	switch {
	case errors.Is(err, api.ErrNotFound):
		return ""
	case err != nil:
		return "whether its deliveries go through the slow lane is not known: " + answers.Safe(err.Error())
	case t.Fields.SlowUntil.IsZero():
		return ""
	}
	return "its deliveries go through the slow lane until " + t.Fields.SlowUntil.UTC().Format("2006-01-02 15:04 UTC") +
		" at least, and may be late"
}
