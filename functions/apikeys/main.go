// Command apikeys is the Lambda function with which operators issue, list and revoke API keys.
package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/handler/apikeys"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	APIKeysTable string `env:"API_KEYS_TABLE,notEmpty"`
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
	h := &apikeys.Handler{
		Keys:   dynamo.NewAPIKeys(dynamodb.NewFromConfig(cfg), env.APIKeysTable),
		Random: rand.Reader,
		Log:    log,
		Now:    time.Now,
	}
	lambda.StartWithOptions(h.Frame(), lambda.WithContext(ctx))
	return nil
}
