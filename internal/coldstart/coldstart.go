// Package coldstart starts every function, before its first invocation: settings from the environment, AWS
// configuration, logger and metrics, then the handler, then Lambda.
//
// It promises that settings, clients and handler exist before the first invocation, and that a function which cannot
// start says why in one log line and ends with an error. The line names every missing or malformed variable or, if
// there is none, the constructor's error; it shows no values. The package knows no function: a main hands it the
// function's constructor.
package coldstart

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Process is shared by the parts of a function for the life of its process.
type Process struct {
	AWS     aws.Config
	Log     *slog.Logger
	Metrics *telemetry.Metrics // on the log's stream
}

// Run starts the function of this name, its folder's, and never returns: the process ends with Lambda's
// Runtime API, or here if it cannot start. Settings are read from the variables that the `env` tags of S name (package
// config); build makes the handler.
func Run[S any](name string, build func(Process, S) (lambda.Handler, error)) {
	log := telemetry.NewLogger(os.Stdout)
	p, settings, err := newProcess[S](name)
	var h lambda.Handler
	if err == nil {
		p.Log = log
		h, err = build(p, settings)
	}
	if err != nil {
		log.Error("cold start failed", telemetry.KeyError, err.Error())
		os.Exit(1)
	}
	lambda.Start(h)
}

// shared are the settings of every function, besides its own.
type shared struct {
	Stage string `env:"STAGE,notEmpty"`
}

// newProcess reads the environment. Faults of the settings and of the AWS configuration come in one error.
func newProcess[S any](name string) (Process, S, error) {
	common, unstaged := config.Load[shared]()
	settings, unset := config.Load[S]()
	cfg, unconfigured := config.AWS()
	metrics := telemetry.NewMetrics(os.Stdout, common.Stage, name, time.Now)
	return Process{AWS: cfg, Metrics: metrics}, settings, errors.Join(unstaged, unset, unconfigured)
}
