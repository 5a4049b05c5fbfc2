// Package pipeline makes the functions that deliveries go through, for tests that count their calls.
//
// It promises the functions that Lambda runs: made by their own constructors, from the environments and parameters of
// template.yaml. Only clock, receivers and AWS are the test's own. It never starts a process.
package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/caarlos0/env/v11"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/pipeline/deadletter"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/pipeline/fanout"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Options are the surroundings of the functions.
type Options struct {
	Parameters map[string]string // other than the template's defaults
	Resources  map[string]string // by the names of the environments: "Endpoints", "RetryQueue.Arn"
	AWS        func(function string) aws.Config
	Receivers  delivery.Poster
	Now        func() time.Time
	Output     func(function string) io.Writer // for its log and metrics
}

// Functions are one process of each.
type Functions struct {
	Fanout, Deliver, Deadletter func(context.Context, []events.SQSMessage) (failed []string)
	Release                     func(context.Context) error
	Memory                      map[string]float64 // in MB, by name
}

// New makes the functions. A queue that is not among the resources has the URL "https://queues/NAME" and the ARN
// "https://queues/NAME.Arn".
func New(t testing.TB, o Options) Functions {
	t.Helper()
	m := o.maker(t)
	fanoutHandler, err := fanout.New(function[fanout.Settings](m, "fanout"))
	m.check(err)
	fanoutHandler.Now = o.Now
	deliverHandler, err := deliver.New(function[deliver.Settings](m, "deliver"))
	m.check(err)
	deliverHandler.Now, deliverHandler.Sender.Now = o.Now, o.Now
	deliverHandler.Sender.Client = o.Receivers
	deliverHandler.Random = func() float64 { return 0 }
	deadletterHandler := deadletter.New(function[deadletter.Settings](m, "deadletter"))
	deadletterHandler.Now = o.Now
	releaseHandler, err := release.New(function[release.Settings](m, "release"))
	m.check(err)
	releaseHandler.Now = o.Now
	return Functions{
		Fanout: fanoutHandler.Process, Deliver: deliverHandler.Process, Deadletter: deadletterHandler.Process,
		Release: releaseHandler.Run, Memory: m.memory,
	}
}

// function is the argument of a function's constructor.
func function[S any](m maker, name string) config.Function[S] {
	m.t.Helper()
	out := m.Output(name)
	return config.Function[S]{
		Settings: settings[S](m, name), AWS: m.AWS(name), Log: Log(out),
		Metrics: telemetry.NewMetrics(out, m.value("Stage"), name, m.Now),
	}
}

// Settings are a function's that this package does not make.
func Settings[S any](t testing.TB, o Options, name string) S {
	t.Helper()
	return settings[S](o.maker(t), name)
}

// Value is a parameter's.
func Value(t testing.TB, o Options, parameter string) string {
	t.Helper()
	return o.maker(t).value(parameter)
}

// Resources are tables and keys of a test's own.
func Resources(t testing.TB, cfg aws.Config) map[string]string {
	t.Helper()
	tables := testkit.Tables(t, cfg)
	return map[string]string{
		"Endpoints": tables.Endpoints, "EndpointHealth": tables.EndpointHealth, "Backlog": tables.Backlog,
		"Deliveries": tables.Deliveries, "DeadLetters": tables.DeadLetters, "ApiKeys": tables.ApiKeys,
		"Jobs": tables.Jobs, "AuditLogs": testkit.LogGroup(t, cfg, "AuditLogs"),
		"SecretsKey.Arn": testkit.Key(t, cfg), "DeadLetterKey.Arn": testkit.Key(t, cfg),
	}
}

// QueueURL is for a queue that is not among the resources.
func QueueURL(name string) string { return "https://queues/" + name }

// Subscribe stores an active endpoint with a secret.
func Subscribe(t testing.TB, cfg aws.Config, resources map[string]string, e endpoint.Endpoint) {
	t.Helper()
	e.Status = endpoint.Active
	e.SecretVersion = 1
	e.Revision = "0"
	sealed, err := keyring.NewSecrets(kms.NewFromConfig(cfg), resources["SecretsKey.Arn"]).
		Seal(t.Context(), keyring.SecretOf(e), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwABCDEFGHIJI=")
	if err == nil {
		e.SealedSecret = sealed
		err = dynamo.NewEndpoints(dynamodb.NewFromConfig(cfg), resources["Endpoints"]).Create(t.Context(), e, nil)
	}
	if err != nil {
		t.Fatalf("pipeline: subscribing: %v", err)
	}
}

type maker struct {
	Options
	t        testing.TB
	template cfn.Template
	memory   map[string]float64
}

func (o Options) maker(t testing.TB) maker {
	t.Helper()
	root, err := tools.Root()
	m := maker{t: t, Options: o, memory: map[string]float64{}}
	m.check(err)
	m.template, err = cfn.Read(filepath.Join(root, "template.yaml"))
	m.check(err)
	return m
}

// value resolves a name in an environment.
func (m maker) value(name string) string {
	if set, ok := m.Parameters[name]; ok {
		return set
	}
	if parameter, ok := m.template.Parameters[name]; ok {
		return fmt.Sprint(parameter["Default"])
	}
	return cmp.Or(m.Resources[name], QueueURL(name))
}

// settings reads a function's settings from its environment in the template.
func settings[S any](m maker, name string) S {
	m.t.Helper()
	own := m.template.Resources[strings.ToUpper(name[:1])+name[1:]+"Function"].Properties
	variables := map[string]string{}
	for _, p := range []cfn.Object{cfn.At(m.template.Globals, "Function"), own} {
		if size, given := p["MemorySize"].(string); given {
			var err error
			m.memory[name], err = strconv.ParseFloat(size, 64)
			m.check(err)
		}
		for variable, value := range cfn.At(p, "Environment", "Variables") {
			text, _ := value.(string)
			if function, ok := value.(cfn.Object); ok {
				text, _ = function["Fn::Sub"].(string)
			}
			variables[variable] = os.Expand(text, m.value)
		}
	}
	s, err := env.ParseAsWithOptions[S](env.Options{RequiredIfNoDef: true, Environment: variables})
	m.check(err)
	return s
}

func (m maker) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("pipeline: %v", err)
	}
}

// Log is a function's logger (lambdacontext.NewLogger) that writes to out. One difference remains: loggers that With
// and WithGroup make of it leave the request id out.
func Log(out io.Writer) *slog.Logger {
	return slog.New(lines{slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})})
}

type lines struct{ slog.Handler }

func (l lines) Handle(ctx context.Context, r slog.Record) error {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		r.AddAttrs(slog.String("requestId", invocation.AwsRequestID)) //nolint:sloglint // as Lambda itself spells it
	}
	return l.Handler.Handle(ctx, r)
}
