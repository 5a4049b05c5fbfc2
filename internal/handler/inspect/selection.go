package inspect

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// selection is a request's selection of dead letters. An endpoint that the request names by its host or description
// gets its id. A selection is refused where it is impossible, or by no index: dead letters are found by endpoint,
// tenant or status.
func selection(
	ctx context.Context, call *operator.Call, directory operator.Directory, s job.Selector,
) (job.Selector, error) {
	id, err := directory.ID(ctx, s.TenantID, s.EndpointID)
	if err != nil {
		return s, err
	}
	s.EndpointID = id
	call.Note(slog.String(telemetry.KeyTenant, s.TenantID), slog.String(telemetry.KeyEndpoint, s.EndpointID))
	return s, operator.CheckSelection(s)
}
