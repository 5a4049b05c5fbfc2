package invariants

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// owner changes an endpoint, as webhooks does: the owner's attributes only.
func (w *world) owner(id string, status endpoint.Status) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.note("owner: %s is %s", id, status)
	w.edit(id, func(e *endpoint.Endpoint) {
		e.Status, e.DeletedAt = status, time.Time{}
		if status == endpoint.Deleted {
			e.DeletedAt = time.Now()
		}
	})
}

// subscribe replaces an endpoint's subscriptions.
func (w *world) subscribe(id, events string) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.note("owner: %s selects %s", id, events)
	w.edit(id, func(e *endpoint.Endpoint) { e.Events = []string{events} })
}

// narrow leaves out the type of every delivery here.
const narrow = "user.created"

func unwantedBy(e endpoint.Endpoint) bool {
	return e.Status == endpoint.Deleted || e.Unsubscribed(eventType)
}

// edit is for callers with the lock, or before anything runs.
func (w *world) edit(id string, change func(*endpoint.Endpoint)) {
	e := w.Endpoints[id]
	change(&e)
	e.UpdatedAt = time.Now()
	w.Endpoints[id] = e
	if unwantedBy(e) {
		for _, t := range w.truth {
			t.unwanted = t.unwanted || t.endpointID == id
		}
	}
}

// control asks the function control, in its own process; id "" is the tenant. It returns a
// refusal's text.
func (w *world) control(action, id string) (refusal string) {
	return w.controlBy(w.process("control"), action, id)
}

func (w *world) controlBy(p *process, action, id string) (refusal string) {
	request := map[string]any{"action": action, "operator": "ann", "tenant_id": tenant}
	if id != "" {
		request["endpoint_id"] = id
	}
	w.Mu.Lock()
	w.note("operator: %s %s", action, id)
	if action == "discard" {
		request["confirm"] = true
		now := time.Now().Truncate(time.Millisecond)
		for _, t := range w.truth {
			t.unwanted = t.unwanted || (id == "" || t.endpointID == id) && t.started.Before(now)
		}
	}
	w.Mu.Unlock()
	payload, err := json.Marshal(request)
	if err != nil {
		return err.Error()
	}
	answer, err := p.Control(payload)
	if err != nil || strings.HasPrefix(string(answer), `{"error":`) {
		return fmt.Sprint(string(answer), err)
	}
	return ""
}
