package invoke

import (
	"cmp"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

// CheckSelection refuses a request's selection of dead letters that is empty or impossible.
func CheckSelection(s job.Selector) error {
	if err := CheckEndpointID(s.EndpointID); err != nil {
		return err
	}
	if s.EndpointID == "" && s.TenantID == "" && s.Status == "" {
		return Invalid("endpoint_id", "endpoint_id, tenant_id or status is required")
	}
	status := OneOf("status", deadletter.Status(s.Status), deadletter.Dead, deadletter.Replaying, deadletter.Replayed)
	return cmp.Or(status, checkReason(s.Reason), CheckTimes(s))
}

// CheckTimes refuses an empty span.
func CheckTimes(s job.Selector) error {
	if !s.Until.IsZero() && !s.Until.After(s.Since) {
		return Invalid("until", "must be later than since")
	}
	return CheckPublished(s.PublishedSince, s.PublishedUntil)
}

// CheckPublished refuses an empty span of times of publishing.
func CheckPublished(since, until time.Time) error {
	if !until.IsZero() && !until.After(since) {
		return Invalid("published_until", "must be later than published_since")
	}
	return nil
}
