package awsmodel

import (
	"context"

	"github.com/herald-webhooks/herald/internal/audit"
)

// audited is the audit log, which nobody reads here.
type audited struct{ *Process }

func (p audited) Write(ctx context.Context, _ ...audit.Line) error {
	return p.one(ctx, "PutLogEvents", "", func() {})
}
