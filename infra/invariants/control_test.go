package invariants

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/control"
	"github.com/herald-webhooks/herald/internal/health"
)

// operators is the world as control sees it.
type operators struct{ *world }

type endpointsOf struct{ *world }

func (w endpointsOf) Get(_ context.Context, _, id string) (e endpoint.Endpoint, found bool, err error) {
	e, found = w.endpoints[id]
	return e, found, nil
}

func (w endpointsOf) List(context.Context, string) (all []endpoint.Endpoint, err error) {
	for _, id := range sorted(w.endpoints) {
		all = append(all, w.endpoints[id])
	}
	return all, nil
}

func (w operators) Get(_ context.Context, id string) (health.Item, error) {
	i := w.health[id]
	i.EndpointID = id
	return i, nil
}

func (w operators) GetTenant(_ context.Context, id string) (health.Item, error) {
	i := w.health["tenant "+id]
	i.TenantID = id
	return i, nil
}

func (w operators) Apply(_ context.Context, write health.Write) (health.Item, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stored, applied := w.store(write)
	return stored, applied, nil
}

func (w operators) Count(context.Context, string) (dynamo.Waiting, error) {
	return dynamo.Waiting{}, nil
}

// control asks the function control; id "" is the tenant. It returns the code of a refusal.
func (w *world) control(action, id string) (refusal string) {
	h := &control.Handler{
		Endpoints: endpointsOf{w}, Health: operators{w}, Backlog: operators{w},
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	request := map[string]any{"action": action, "operator": "ann", "tenant_id": tenant}
	if id != "" {
		request["endpoint_id"] = id
	}
	if action == "discard" {
		request["confirm"] = true
	}
	payload, err := json.Marshal(request)
	if err != nil {
		return err.Error()
	}
	w.mu.Lock()
	w.note("operator: %s %s", action, id)
	w.mu.Unlock()
	out, err := h.Function().Invoke(context.Background(), payload)
	var answer struct {
		Error *struct{ Code string }
	}
	switch parsed := json.Unmarshal(out, &answer); {
	case err != nil || parsed != nil:
		return fmt.Sprint(err, parsed)
	case answer.Error != nil:
		return answer.Error.Code
	}
	if action == "discard" {
		w.mu.Lock()
		defer w.mu.Unlock()
		now := time.Now().Truncate(time.Millisecond)
		for _, t := range w.truth {
			t.unwanted = t.unwanted || (id == "" || t.endpointID == id) && t.started.Before(now)
		}
	}
	return ""
}
