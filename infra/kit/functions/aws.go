package functions

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/pipeline/deadletter"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/pipeline/fanout"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// Functions are one process of each function that deliveries go through.
type Functions struct {
	Fanout, Deliver, Deadletter func(context.Context, []events.SQSMessage) (failed []string)
	Release                     func(context.Context) error
	Memory                      map[string]float64 // in MB, by name
}

// OnAWS makes the functions by their own constructors. The options replace only the clock, the receivers and AWS.
func OnAWS(t testing.TB, o Options) Functions {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("functions: %v", err)
		}
	}
	fanoutHandler, err := fanout.New(of[fanout.Settings](t, o, "fanout"))
	check(err)
	fanoutHandler.Now = o.Now
	deliverHandler, err := deliver.New(of[deliver.Settings](t, o, "deliver"))
	check(err)
	deliverHandler.Now, deliverHandler.Sender.Now = o.Now, o.Now
	deliverHandler.Sender.Client = o.Receivers
	deliverHandler.Random = func() float64 { return 0 }
	deadletterHandler := deadletter.New(of[deadletter.Settings](t, o, "deadletter"))
	deadletterHandler.Now = o.Now
	releaseHandler, err := release.New(of[release.Settings](t, o, "release"))
	check(err)
	releaseHandler.Now = o.Now
	memory := map[string]float64{}
	for _, function := range []string{"fanout", "deliver", "deadletter", "release"} {
		memory[function], err = memoryOf(function)
		check(err)
	}
	return Functions{
		Fanout: fanoutHandler.Process, Deliver: deliverHandler.Process, Deadletter: deadletterHandler.Process,
		Release: releaseHandler.Run, Memory: memory,
	}
}

// of is the argument of a function's constructor.
func of[S any](t testing.TB, o Options, name string) config.Function[S] {
	t.Helper()
	out := o.Output(name)
	return config.Function[S]{
		Settings: Settings[S](t, o, name), AWS: o.AWS(name), Log: Log(out),
		Metrics: telemetry.NewMetrics(out, Value(t, o, parameters.Stage), name, o.Now),
	}
}

// memoryOf is a function's memory, in MB.
func memoryOf(function string) (size float64, err error) {
	tpl, err := template()
	if err != nil {
		return 0, err
	}
	for _, properties := range propertiesOf(tpl, function) {
		if given, ok := properties["MemorySize"].(string); ok {
			size, err = strconv.ParseFloat(given, 64)
		}
	}
	return size, err
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
		t.Fatalf("functions: subscribing: %v", err)
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
