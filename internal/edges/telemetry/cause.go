package telemetry

import (
	"errors"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// Cause is an error for the log: of a panic, its value and stack, too.
func Cause(err error) slog.Attr {
	attrs := []slog.Attr{slog.String(KeyError, err.Error())}
	var panicked *parallel.Panic
	if errors.As(err, &panicked) {
		attrs = append(attrs, slog.Any("panic", panicked.Value), slog.String("stack", string(panicked.Stack)))
	}
	return slog.Attr{Value: slog.GroupValue(attrs...)} // a group without a name stands in its line
}
