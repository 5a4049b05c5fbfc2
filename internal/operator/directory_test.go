package operator_test

import (
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/operator"
)

func TestFound_State_hidesTheCircuitUnderAStop(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 5, 1, hour, 0, 0, 0, time.UTC) }
	open := circuit.Item{State: circuit.Open, Since: at(3)}
	paused := endpoint.Marks{PausedAt: at(1)}
	for name, row := range map[string]struct {
		found operator.Found
		state string
		since time.Time
	}{
		"healthy": {operator.Found{Endpoint: endpoint.Endpoint{Status: endpoint.Active}}, "healthy", time.Time{}},
		"open":    {operator.Found{Endpoint: endpoint.Endpoint{Status: endpoint.Active}, Circuit: open}, "open", at(3)},
		"disabled and open": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Disabled, UpdatedAt: at(2)}, Circuit: open}, "disabled", at(2)},
		"paused, disabled and open": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Disabled, Marks: paused}, Circuit: open}, "paused", at(1)},
		"of a paused tenant": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Active}, Tenant: endpoint.Marks{PausedAt: at(4)}}, "paused", at(4)},
		"unreadable": {operator.Found{Unreadable: true, Circuit: open}, "unreadable", time.Time{}},
		"deleted and paused": {operator.Found{
			Endpoint: endpoint.Endpoint{Status: endpoint.Deleted, DeletedAt: at(5), Marks: paused}}, "deleted", at(5)},
	} {
		t.Run(name, func(t *testing.T) {
			if row.found.State() != row.state || !row.found.Since().Equal(row.since) {
				t.Errorf("%s since %s, want %s since %s", row.found.State(), row.found.Since(), row.state, row.since)
			}
		})
	}
}
