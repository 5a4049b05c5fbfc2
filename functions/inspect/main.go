// Command inspect is the Lambda function that shows operators delivery state, dead letters and rejected events.
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
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/rejected"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	DeliveriesTable          string `env:"DELIVERIES_TABLE,notEmpty"`
	DeadLettersTable         string `env:"DEAD_LETTERS_TABLE,notEmpty"`
	DeadLetterKeyARN         string `env:"DEAD_LETTER_KEY_ARN,notEmpty"`
	EventsQueueURL           string `env:"EVENTS_QUEUE_URL,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	RetryQueueURL            string `env:"RETRY_QUEUE_URL,notEmpty"`
	DeadLetterQueueURL       string `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
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
	h := &inspect.Handler{
		Deliveries:  dynamo.NewDeliveries(tables, env.DeliveriesTable),
		DeadLetters: dynamo.NewDeadLetters(tables, env.DeadLettersTable),
		Vault:       deadletter.Vault{Keys: keyring.NewDataKeys(kms.NewFromConfig(cfg), env.DeadLetterKeyARN), Random: rand.Reader},
		Rejected:    rejected.Queue{Client: queues, URL: env.EventsDeadLetterQueueURL},
		Meter:       queues,
		Queues: map[string]string{
			"EventsQueue":           env.EventsQueueURL,
			"EventsDeadLetterQueue": env.EventsDeadLetterQueueURL,
			"DeliveryQueue":         env.DeliveryQueueURL,
			"RetryQueue":            env.RetryQueueURL,
			"DeadLetterQueue":       env.DeadLetterQueueURL,
		},
		Log: log,
		Now: time.Now,
	}
	lambda.StartWithOptions(h.Frame(), lambda.WithContext(ctx))
	return nil
}
