// Command deadletter is the Lambda function behind DeadLetterQueue: sealed records of dead deliveries.
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

	"github.com/herald-webhooks/herald/internal/batch"
	"github.com/herald-webhooks/herald/internal/config"
	vault "github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	DeadLettersTable string `env:"DEAD_LETTERS_TABLE,notEmpty"`
	DeliveriesTable  string `env:"DELIVERIES_TABLE,notEmpty"`
	DeadLetterKeyARN string `env:"DEAD_LETTER_KEY_ARN,notEmpty"`
	MaxRetries       int    `env:"MAX_RETRIES"`
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
	tables := dynamodb.NewFromConfig(cfg)
	h := &deadletter.Handler{
		States:     dynamo.NewDeliveries(tables, env.DeliveriesTable),
		Store:      dynamo.NewDeadLetters(tables, env.DeadLettersTable),
		Vault:      vault.Vault{Keys: keyring.NewDataKeys(kms.NewFromConfig(cfg), env.DeadLetterKeyARN), Random: rand.Reader},
		MaxRetries: env.MaxRetries,
		Log:        log,
		Metrics:    telemetry.NewMetrics(os.Stdout, "deadletter", time.Now),
		Now:        time.Now,
	}
	lambda.StartWithOptions(batch.Handler(h.Process), lambda.WithContext(ctx))
	return nil
}
