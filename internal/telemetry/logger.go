package telemetry

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// NewLogger returns the logger of a Lambda function. It writes JSON to out with Lambda's own
// names, the invocation's request id on each line, from INFO on, or from DEBUG on if the
// function's LoggingConfig says so (AWS_LAMBDA_LOG_LEVEL).
func NewLogger(out io.Writer) *slog.Logger {
	level := slog.LevelInfo // above it there would be no wide lines, and Lambda would drop the metrics
	if os.Getenv("AWS_LAMBDA_LOG_LEVEL") == "DEBUG" {
		level = slog.LevelDebug
	}
	return slog.New(handler{
		slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: lambdacontext.ReplaceAttr}),
	})
}

// handler adds the invocation's request id to each line.
type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("requestId", invocation.AwsRequestID)) //nolint:sloglint // as Lambda itself spells it
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name)}
}
