package model

import (
	"context"

	"github.com/herald-webhooks/herald/internal/edges/audit"
)

// Audit returns it as the process calls it.
func (p *Process) Audit() Audit { return Audit{p} }

// Audit is the audit log as one process writes it.
type Audit struct{ *Process }

// Write keeps lines.
func (p Audit) Write(ctx context.Context, lines ...audit.Line) error {
	return p.one(ctx, "PutLogEvents", "", func() { p.model.Audited = append(p.model.Audited, lines...) })
}
