package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Output is the log stream of a function that writes a line per message: lines gather until
// Flush, since each write is a system call, some 4 % of a delivery's CPU time. A line above
// INFO takes all before it out at once. It is safe for concurrent use.
type Output struct {
	out io.Writer

	mu    sync.Mutex
	lines []byte
}

// NewOutput returns an Output that writes to out.
func NewOutput(out io.Writer) *Output { return &Output{out: out} }

// maxGathered bounds the lines in memory, in bytes.
const maxGathered = 64 << 10

// Write takes one line.
func (o *Output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, line...)
	if len(o.lines) < maxGathered {
		return len(line), nil
	}
	return len(line), o.flush()
}

// Flush writes what has gathered.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flush()
}

func (o *Output) flush() error {
	if len(o.lines) == 0 {
		return nil
	}
	_, err := o.out.Write(o.lines)
	o.lines = o.lines[:0]
	return err
}

// Logger is NewLogger on this stream.
func (o *Output) Logger() *slog.Logger {
	var level slog.Level // INFO
	if os.Getenv("AWS_LAMBDA_LOG_LEVEL") == "DEBUG" {
		level = slog.LevelDebug
	}
	return slog.New(handler{slog.NewJSONHandler(o, &slog.HandlerOptions{Level: level, ReplaceAttr: lambdacontext.ReplaceAttr}), o})
}

type handler struct {
	slog.Handler
	out *Output
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("requestId", invocation.AwsRequestID)) //nolint:sloglint // as Lambda itself spells it
	}
	err := h.Handler.Handle(ctx, r)
	if r.Level > slog.LevelInfo {
		err = errors.Join(err, h.out.Flush())
	}
	return err
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.out}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.out}
}
