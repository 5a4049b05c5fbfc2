package replay

import (
	"context"

	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/rejected"
)

// audit writes a line for each event. Where that fails, they stay.
func (s *sweep) audit(ctx context.Context, act job.Act, events []rejected.Event) (written bool) {
	lines := make([]audit.Line, len(events))
	for i, e := range events {
		lines[i] = audit.Line{Action: string(act), MessageID: e.MessageID}
		if tenant := rejected.TenantOf(e); event.ValidTenantID(tenant) { // the field may hold anything
			lines[i].TenantID = tenant
		}
		if s.job != nil {
			lines[i].Operator, lines[i].JobID = s.job.Operator, s.job.ID
		}
	}
	err := s.call.Audit(ctx, lines...)
	for _, e := range events {
		if err != nil {
			s.failed(ctx, e, reasonInternal, err)
		}
	}
	return err == nil
}
