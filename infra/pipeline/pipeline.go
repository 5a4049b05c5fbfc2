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

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Options are the surroundings of the functions.
type Options struct {
	Root       string            // the checkout
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
	return Functions{m.fanout(), m.deliver(), m.deadletter(), m.release(), m.memory}
}

// Settings are a function's that this package does not make.
func Settings[S any](t testing.TB, o Options, function string) S {
	t.Helper()
	return settings[S](o.maker(t), function)
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
	e.Status, e.SecretVersion, e.Revision = endpoint.Active, 1, "0"
	id := keyring.SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: 1}
	sealed, err := keyring.NewSecrets(kms.NewFromConfig(cfg), resources["SecretsKey.Arn"]).
		Seal(t.Context(), id, "whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwABCDEFGHIJK")
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
	template, err := cfn.Read(filepath.Join(o.Root, "template.yaml"))
	if err != nil {
		t.Fatalf("pipeline: %v", err)
	}
	return maker{t: t, Options: o, template: template, memory: map[string]float64{}}
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
			n, err := strconv.ParseFloat(size, 64)
			m.memory[name] = must(m, n, err)
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
	return must(m, s, err)
}

func must[T any](m maker, value T, err error) T {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("pipeline: %v", err)
	}
	return value
}

// Log is a function's logger (lambdacontext.NewLogger) that writes to out.
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

func (m maker) metrics(name string) *telemetry.Metrics {
	return telemetry.NewMetrics(m.Output(name), m.value("Stage"), name, m.Now)
}

func (m maker) fanout() func(context.Context, []events.SQSMessage) []string {
	h, err := fanout.New(fanout.Config{
		Settings: settings[fanout.Settings](m, "fanout"), AWS: m.AWS("fanout"),
		Log: Log(m.Output("fanout")), Metrics: m.metrics("fanout"),
	})
	must(m, h, err).Now = m.Now
	return h.Process
}

func (m maker) deliver() func(context.Context, []events.SQSMessage) []string {
	h, err := deliver.New(deliver.Config{
		Settings: settings[deliver.Settings](m, "deliver"), AWS: m.AWS("deliver"),
		Log: Log(m.Output("deliver")), Metrics: m.metrics("deliver"),
	})
	must(m, h, err).Now = m.Now
	h.Sender.Now, h.Sender.Client = m.Now, m.Receivers
	h.Random = func() float64 { return 0 }
	return h.Process
}

func (m maker) deadletter() func(context.Context, []events.SQSMessage) []string {
	h := deadletter.New(deadletter.Config{
		Settings: settings[deadletter.Settings](m, "deadletter"), AWS: m.AWS("deadletter"),
		Log: Log(m.Output("deadletter")), Metrics: m.metrics("deadletter"),
	})
	h.Now = m.Now
	return h.Process
}

func (m maker) release() func(context.Context) error {
	h, err := release.New(release.Config{
		Settings: settings[release.Settings](m, "release"), AWS: m.AWS("release"),
		Log: Log(m.Output("release")), Metrics: m.metrics("release"),
	})
	must(m, h, err).Now = m.Now
	return h.Run
}
