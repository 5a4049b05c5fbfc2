package telemetry

import (
	"log/slog"

	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Trace is the trace of a delivery for its lines. Without a trace it is no field at all.
func Trace(c trace.Context) slog.Attr {
	if c.IsZero() {
		return slog.Attr{} // handlers leave it out
	}
	return slog.String(KeyTrace, c.TraceID())
}
