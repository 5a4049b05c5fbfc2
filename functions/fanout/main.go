// Command fanout is the Lambda function behind EventsQueue: one delivery per matching endpoint.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/batch"
	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	EndpointsTable           string `env:"ENDPOINTS_TABLE,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	EventsDeadLetterQueueURL string `env:"EVENTS_DEAD_LETTER_QUEUE_URL,notEmpty"`
}

func main() {
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
	cfg, err := config.AWS(ctx)
	if err != nil {
		return err
	}
	client := sqs.NewFromConfig(cfg)
	h := &fanout.Handler{
		Subscriptions: dynamo.NewEndpoints(dynamodb.NewFromConfig(cfg), env.EndpointsTable),
		Deliveries:    queue.Sender{Client: client, URL: env.DeliveryQueueURL},
		Rejected:      queue.Sender{Client: client, URL: env.EventsDeadLetterQueueURL},
		Log:           log,
		Metrics:       telemetry.NewMetrics(out, "fanout", time.Now),
		Now:           time.Now,
	}
	lambda.StartWithOptions(batch.Handler(h.Process), lambda.WithContext(ctx))
	return nil
}
