package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// maxStopped bounds the endpoints that an answer names.
const maxStopped = 20

// noteUnread is the note of a resume after which the circuits of the tenant's endpoints cannot be read: it is done.
const noteUnread = "which of its endpoints stay open, paused or disabled cannot be read now"

// stillStopped returns the tenant's endpoints that are open, paused or disabled after its resume, 20 at most, and a
// note when that is not all of them. The resume is done by then: a circuit that cannot be read does not make it fail.
func (h *Handler) stillStopped(ctx context.Context, t target) (stopped []api.StoppedEndpoint, note string) {
	states := make([]api.State, len(t.endpoints))
	err := errors.Join(parallel.Each(len(t.endpoints), atOnce, func(n int) error {
		item, err := h.Circuits.Get(ctx, t.endpoints[n].ID)
		states[n] = invoke.Found{Endpoint: t.endpoints[n], Tenant: t.found.Tenant, Circuit: item}.State()
		return err
	})...)
	if err != nil {
		h.Log.ErrorContext(ctx, "reading circuits", slog.String(telemetry.KeyTenant, t.key.TenantID), telemetry.Cause(err))
		return nil, noteUnread
	}
	for n, state := range states {
		switch state {
		case api.StateOpen, api.StatePaused, api.StateDisabled:
			stopped = append(stopped, api.StoppedEndpoint{EndpointID: t.endpoints[n].ID, State: state})
		}
	}
	if more := len(stopped) - maxStopped; more > 0 {
		return stopped[:maxStopped], fmt.Sprintf("%d more endpoints stay so", more)
	}
	return stopped, ""
}
