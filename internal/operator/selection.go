package operator

import (
	"time"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
)

// Selection is the part of a request that selects dead letters or, without endpoint and status, rejected events.
type Selection struct {
	EndpointID string            `json:"endpoint_id"`
	TenantID   string            `json:"tenant_id"`
	Status     deadletter.Status `json:"status"`
	Reason     delivery.Reason   `json:"reason"`
	Since      time.Time         `json:"since"` // of the latest death, inclusive
	Until      time.Time         `json:"until"` // likewise, exclusive
}

// Selector refuses an empty selection.
func (s Selection) Selector() (deadletter.Selector, error) {
	if err := CheckEndpointID(s.EndpointID); err != nil {
		return deadletter.Selector{}, err
	}
	switch {
	case s.EndpointID == "" && s.TenantID == "" && s.Status == "":
		return deadletter.Selector{}, Invalid("endpoint_id", "endpoint_id, tenant_id or status is required")
	case s.Status != "" && !s.Status.Valid():
		return deadletter.Selector{}, Invalid("status", "must be dead, replaying or replayed")
	}
	return deadletter.Selector{
		TenantID: s.TenantID, EndpointID: s.EndpointID, Reason: s.Reason, Status: s.Status, Since: s.Since, Until: s.Until,
	}, s.CheckTimes()
}

// CheckTimes refuses an empty span.
func (s Selection) CheckTimes() error {
	if !s.Until.IsZero() && !s.Until.After(s.Since) {
		return Invalid("until", "must be later than since")
	}
	return nil
}
