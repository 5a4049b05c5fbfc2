package inspect

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// selection is a request's selection of dead letters. An endpoint that the request names by its host or description
// gets its id. A selection is refused if it is impossible, or if no index serves it: dead letters are found by
// endpoint, tenant or status.
func selection(
	ctx context.Context, call *invoke.Call, directory invoke.Directory, s job.Selector,
) (job.Selector, error) {
	id, err := directory.ID(ctx, s.TenantID, s.EndpointID)
	if err != nil {
		return s, err
	}
	s.EndpointID = id
	call.Note(slog.String(telemetry.KeyTenant, s.TenantID), slog.String(telemetry.KeyEndpoint, s.EndpointID))
	return s, invoke.CheckSelection(s)
}
