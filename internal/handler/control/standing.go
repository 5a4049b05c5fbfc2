package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
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

// noteUnread is the note of a resume after which the tenant's endpoints cannot be read: it is done.
const noteUnread = "which of its endpoints stay open, paused or disabled cannot be read now: see inspect endpoints"

// standing adds the endpoints still stopped or open to the answer of a tenant's resume.
func (h *Handler) standing(ctx context.Context, a Answer) Answer {
	held, err := h.held(ctx, a.TenantID)
	if err != nil {
		h.Log.ErrorContext(ctx, "reading endpoints", telemetry.KeyTenant, a.TenantID, telemetry.KeyError, err.Error())
		a.Note = noteUnread
		return a
	}
	if more := len(held) - maxStanding; more > 0 {
		held, a.Note = held[:maxStanding], fmt.Sprintf("%d more endpoints stay so: see inspect endpoints", more)
	}
	a.Held = held
	return a
}

// held returns the tenant's endpoints whose deliveries are held.
func (h *Handler) held(ctx context.Context, tenantID string) ([]Standing, error) {
	endpoints, _, err := h.list(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	marks, err := h.Endpoints.Marks(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	states := make([]string, len(endpoints))
	errs := parallel.Each(len(endpoints), countedAtOnce, func(n int) (err error) {
		states[n], err = h.stateOf(ctx, endpoints[n], marks)
		return err
	})
	var held []Standing
	for n, state := range states {
		switch state {
		case string(circuit.Open), operator.StatePaused, operator.StateDisabled:
			held = append(held, Standing{EndpointID: endpoints[n].ID, State: state})
		}
	}
	return held, errors.Join(errs...)
}

func (h *Handler) stateOf(ctx context.Context, e endpoint.Endpoint, marks endpoint.TenantMarks) (string, error) {
	item, err := h.Circuits.Get(ctx, e.ID)
	e.Marks = marks.Endpoints[e.ID]
	return operator.Found{Endpoint: e, Tenant: marks.Tenant, Circuit: item}.State(), err
}
