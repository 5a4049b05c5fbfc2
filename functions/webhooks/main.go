// Command webhooks is the Lambda function behind the HTTP API: the management API.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/apigw"
	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/webhooks"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

type settings struct {
	Stage            string `env:"STAGE,notEmpty"`
	EndpointsTable   string `env:"ENDPOINTS_TABLE,notEmpty"`
	APIKeysTable     string `env:"API_KEYS_TABLE,notEmpty"`
	SecretsKeyARN    string `env:"SECRETS_KEY_ARN,notEmpty"`
	EgressAllowCIDRs string `env:"EGRESS_ALLOW_CIDRS"`
	EgressAllowPorts string `env:"EGRESS_ALLOW_PORTS"`
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
	policy, err := egress.ParsePolicy(env.EgressAllowCIDRs, env.EgressAllowPorts, env.Stage)
	if err != nil {
		return fmt.Errorf("reading the environment: %w", err)
	}
	cfg, err := config.AWS(ctx)
	if err != nil {
		return err
	}
	tables := dynamodb.NewFromConfig(cfg)
	h := &webhooks.Handler{
		Endpoints: dynamo.NewEndpoints(tables, env.EndpointsTable),
		Keys:      dynamo.NewAPIKeys(tables, env.APIKeysTable),
		Secrets:   keyring.NewSecrets(kms.NewFromConfig(cfg), env.SecretsKeyARN),
		URLs:      endpoint.URLPolicy{Addr: policy.Addr, Port: policy.Port},
		Log:       log,
		Metrics:   telemetry.NewMetrics(os.Stdout, "webhooks", time.Now),
		Now:       time.Now,
		Random:    rand.Reader,
	}
	lambda.StartWithOptions(apigw.Handler(h.Serve), lambda.WithContext(ctx))
	return nil
}
