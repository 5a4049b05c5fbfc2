package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/operator"
	"github.com/herald-webhooks/herald/internal/parallel"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Standing is an endpoint that still gets no deliveries although its tenant was resumed.
type Standing struct {
	EndpointID string `json:"endpoint_id"`
	State      string `json:"state"` // open, paused or disabled
}

// maxStanding bounds the endpoints that an answer names.
const maxStanding = 20

// noteUnread is the note of a resume after which the circuits of the tenant's endpoints cannot be read: it is done.
const noteUnread = "which of its endpoints stay open, paused or disabled cannot be read now: see inspect endpoints"

// standing adds the endpoints still stopped or open to the answer of a tenant's resume.
func (h *Handler) standing(ctx context.Context, t target, a Answer) Answer {
	states := make([]string, len(t.endpoints))
	err := errors.Join(parallel.Each(len(t.endpoints), atOnce, func(n int) error {
		item, err := h.Circuits.Get(ctx, t.endpoints[n].ID)
		states[n] = operator.Found{Endpoint: t.endpoints[n], Tenant: t.found.Tenant, Circuit: item}.State()
		return err
	})...)
	if err != nil {
		h.Log.ErrorContext(ctx, "reading circuits", slog.String(telemetry.KeyTenant, a.TenantID), telemetry.Cause(err))
		a.Note = noteUnread
		return a
	}
	for n, state := range states {
		switch state {
		case string(circuit.Open), operator.StatePaused, operator.StateDisabled:
			a.Held = append(a.Held, Standing{EndpointID: t.endpoints[n].ID, State: state})
		}
	}
	if more := len(a.Held) - maxStanding; more > 0 {
		a.Held, a.Note = a.Held[:maxStanding], fmt.Sprintf("%d more endpoints stay so: see inspect endpoints", more)
	}
	return a
}
