// Command deliver is the Lambda function behind DeliveryQueue and RetryQueue: one attempt per message.
package main

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/batch"
	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	Stage               string         `env:"STAGE,notEmpty"`
	EndpointsTable      string         `env:"ENDPOINTS_TABLE,notEmpty"`
	DeliveriesTable     string         `env:"DELIVERIES_TABLE,notEmpty"`
	SecretsKeyARN       string         `env:"SECRETS_KEY_ARN,notEmpty"`
	RetryQueueURL       string         `env:"RETRY_QUEUE_URL,notEmpty"`
	RetryQueueARN       string         `env:"RETRY_QUEUE_ARN,notEmpty"`
	RetryBase           config.Seconds `env:"RETRY_BASE_SECONDS"`
	RetryFactor         float64        `env:"RETRY_FACTOR"`
	MaxRetries          int            `env:"MAX_RETRIES"`
	ConnectTimeout      config.Seconds `env:"CONNECT_TIMEOUT_SECONDS"`
	AttemptTimeout      config.Seconds `env:"ATTEMPT_TIMEOUT_SECONDS"`
	EndpointConcurrency int            `env:"ENDPOINT_CONCURRENCY"`
	MaximumConcurrency  int            `env:"MAXIMUM_CONCURRENCY"`
	EgressAllowCIDRs    string         `env:"EGRESS_ALLOW_CIDRS"`
	EgressAllowPorts    string         `env:"EGRESS_ALLOW_PORTS"`
}

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // package log's output, too: net/http quotes receivers there
	out := telemetry.NewOutput(os.Stdout)
	log := out.Logger()
	if err := run(context.Background(), log, out); err != nil {
		log.Error("cold start failed", telemetry.KeyError, err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger, out *telemetry.Output) error {
	env, err := config.Load[settings]()
	if err != nil {
		return err
	}
	schedule := retry.Schedule{Base: env.RetryBase.Duration(), Factor: env.RetryFactor, MaxRetries: env.MaxRetries}
	if err := schedule.Validate(); err != nil {
		return fmt.Errorf("reading the environment: %w", err)
	}
	policy, err := egress.ParsePolicy(env.EgressAllowCIDRs, env.EgressAllowPorts, env.Stage)
	if err != nil {
		return fmt.Errorf("reading the environment: %w", err)
	}
	cfg, err := config.AWS(ctx)
	if err != nil {
		return err
	}
	var (
		tables = dynamodb.NewFromConfig(cfg)
		queues = sqs.NewFromConfig(cfg)
	)
	h := &deliver.Handler{
		Endpoints:     dynamo.NewEndpoints(tables, env.EndpointsTable),
		Secrets:       keyring.NewSecrets(kms.NewFromConfig(cfg), env.SecretsKeyARN),
		States:        dynamo.NewDeliveries(tables, env.DeliveriesTable),
		RetryQueue:    queue.Sender{Client: queues, URL: env.RetryQueueURL},
		Visibility:    queue.Visibility{Client: queues, URL: env.RetryQueueURL},
		RetryQueueARN: env.RetryQueueARN,
		Schedule:      schedule,
		PerEndpoint:   env.EndpointConcurrency,
		Hanging: &deliver.Hanging{
			Store:   dynamo.NewHanging(tables, env.DeliveriesTable),
			Holder:  crand.Text(),
			Suspect: env.AttemptTimeout.Duration() / 10,
			Limit:   env.MaximumConcurrency / 10,
			Window:  4 * env.AttemptTimeout.Duration(),
		},
		Attempts: delivery.Sender{
			Client: egress.New(egress.Config{
				Policy: policy, ConnectTimeout: env.ConnectTimeout.Duration(), AttemptTimeout: env.AttemptTimeout.Duration(),
			}),
			Schedule: schedule, UserAgent: config.UserAgent(), Now: time.Now,
		},
		Log:     log,
		Metrics: telemetry.NewMetrics(out, "deliver", time.Now),
		Now:     time.Now,
		Random:  rand.Float64,
	}
	lambda.StartWithOptions(batch.Handler(h.Process), lambda.WithContext(ctx))
	return nil
}
