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
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
)

// Run starts the function of this name, its folder's, and never returns: the process ends with Lambda's
// Runtime API, or here if it cannot start. Settings are read from the variables that the `env` tags of S name (package
// config), besides the stage that every function has; build makes the handler, which counts only without an error.
func Run[S any, H lambda.Handler](name string, build func(config.Function[S]) (H, error)) {
	log := lambdacontext.NewLogger()
	common, unstaged := config.Load[struct {
		Stage string `env:"STAGE,notEmpty"`
	}]()
	settings, unset := config.Load[S]()
	cfg, unconfigured := config.AWS()
	err := errors.Join(unstaged, unset, unconfigured)
	var h H
	if err == nil {
		metrics := telemetry.NewMetrics(os.Stdout, common.Stage, name, time.Now)
		h, err = build(config.Function[S]{Settings: settings, AWS: cfg, Log: log, Metrics: metrics})
	}
	if err != nil {
		log.Error("cold start failed", telemetry.Cause(err))
		os.Exit(1)
	}
	lambda.Start(h)
}
