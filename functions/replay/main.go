// Command replay is the Lambda function with which operators send dead deliveries and rejected events again.
package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/handler/replay"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	DeadLettersTable         string `env:"DEAD_LETTERS_TABLE,notEmpty"`
	DeliveriesTable          string `env:"DELIVERIES_TABLE,notEmpty"`
	EndpointsTable           string `env:"ENDPOINTS_TABLE,notEmpty"`
	DeadLetterKeyARN         string `env:"DEAD_LETTER_KEY_ARN,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	EventsQueueURL           string `env:"EVENTS_QUEUE_URL,notEmpty"`
	EventsDeadLetterQueueURL string `env:"EVENTS_DEAD_LETTER_QUEUE_URL,notEmpty"`
}

func main() {
	log := telemetry.NewLogger()
	if err := run(context.Background(), log); err != nil {
		log.Error("cold start failed", telemetry.KeyError, err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger) error {
	env, err := config.Load[settings]()
	if err != nil {
		return err
	}
	cfg, err := config.AWS(ctx)
	if err != nil {
		return err
	}
	tables, queues := dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg)
	h := &replay.Handler{
		DeadLetters: dynamo.NewDeadLetters(tables, env.DeadLettersTable),
		States:      dynamo.NewDeliveries(tables, env.DeliveriesTable),
		Endpoints:   dynamo.NewEndpoints(tables, env.EndpointsTable),
		Vault:       deadletter.Vault{Keys: keyring.NewDataKeys(kms.NewFromConfig(cfg), env.DeadLetterKeyARN), Random: rand.Reader},
		Deliveries:  queue.Sender{Client: queues, URL: env.DeliveryQueueURL},
		Events:      queue.Sender{Client: queues, URL: env.EventsQueueURL},
		Rejected:    rejected.Queue{Client: queues, URL: env.EventsDeadLetterQueueURL},
		Log:         log,
		Now:         time.Now,
	}
	lambda.StartWithOptions(h.Frame(), lambda.WithContext(ctx))
	return nil
}
