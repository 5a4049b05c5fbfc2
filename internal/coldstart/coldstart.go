// Package coldstart is what every function does once, before its first invocation: settings
// from the environment, AWS configuration, logger and metrics, then the handler, then Lambda.
//
// It promises that nothing is left to the first invocation, and that a function which cannot
// start says why in one log line, which names every variable at fault and shows no value, and
// ends with an error. It knows no function: a main hands it the function's constructor.
package coldstart

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Function says which function starts.
type Function struct {
	Name string // folder name; the metrics' service
	// GatherLines keeps log lines in memory until the metrics are flushed, at the end of every
	// invocation at the latest. It is for handlers that write many lines and flush themselves.
	GatherLines bool
}

// Process is what the parts of a function share for as long as its process lives.
type Process struct {
	AWS     aws.Config
	Log     *slog.Logger
	Metrics *telemetry.Metrics // on the log's stream
}

// Run starts a function and returns only when Lambda ends it. Settings are read from the
// variables that the `env` tags of S name (package config); build makes the handler.
func Run[S any](f Function, build func(Process, S) (lambda.Handler, error)) {
	ctx := context.Background()
	p := newProcess(f, os.Stdout)
	h, err := start(ctx, p, build)
	if err != nil {
		p.Log.ErrorContext(ctx, "cold start failed", telemetry.KeyError, err.Error())
		os.Exit(1)
	}
	lambda.StartWithOptions(h, lambda.WithContext(ctx))
}

func newProcess(f Function, stdout io.Writer) Process {
	if f.GatherLines {
		stdout = telemetry.NewOutput(stdout)
	}
	metrics := telemetry.NewMetrics(stdout, f.Name, time.Now).InStage(os.Getenv("STAGE"))
	return Process{Log: telemetry.NewLogger(stdout), Metrics: metrics}
}

// start makes the handler. Faults of the settings and of the AWS configuration come together.
func start[S any](
	ctx context.Context, p Process, build func(Process, S) (lambda.Handler, error),
) (lambda.Handler, error) {
	settings, unset := config.Load[S]()
	cfg, unconfigured := config.AWS(ctx)
	if err := errors.Join(unset, unconfigured); err != nil {
		return nil, err
	}
	p.AWS = cfg
	return build(p, settings)
}
