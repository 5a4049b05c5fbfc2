package deliver

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Settings are the function's environment variables.
type Settings struct {
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

// Config is what New needs. All fields are required.
type Config struct {
	Settings Settings
	AWS      aws.Config
	Log      *slog.Logger
	Metrics  *telemetry.Metrics
}

// New returns the handler on the AWS resources that the settings name. The error names every
// setting that is out of its range.
func New(c Config) (*Handler, error) {
	s := c.Settings
	schedule := retry.Schedule{Base: s.RetryBase.Duration(), Factor: s.RetryFactor, MaxRetries: s.MaxRetries}
	unscheduled := schedule.Validate()
	if unscheduled != nil {
		unscheduled = fmt.Errorf("RETRY_BASE_SECONDS, RETRY_FACTOR, MAX_RETRIES: %w", unscheduled)
	}
	policy, unlawful := egress.ParsePolicy(s.EgressAllowCIDRs, s.EgressAllowPorts, s.Stage)
	if err := errors.Join(unscheduled, s.validate(), unlawful); err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	tables, queues := dynamodb.NewFromConfig(c.AWS), sqs.NewFromConfig(c.AWS)
	return &Handler{
		Endpoints:     dynamo.NewEndpoints(tables, s.EndpointsTable),
		Secrets:       keyring.NewSecrets(kms.NewFromConfig(c.AWS), s.SecretsKeyARN),
		States:        dynamo.NewDeliveries(tables, s.DeliveriesTable),
		RetryQueue:    queue.Sender{Client: queues, URL: s.RetryQueueURL},
		Visibility:    queue.Visibility{Client: queues, URL: s.RetryQueueURL},
		RetryQueueARN: s.RetryQueueARN,
		Schedule:      schedule,
		PerEndpoint:   s.EndpointConcurrency,
		Hanging:       newHanging(dynamo.NewHanging(tables, s.DeliveriesTable), s),
		Attempts: delivery.Sender{
			Client: egress.New(egress.Config{
				Policy: policy, ConnectTimeout: s.ConnectTimeout.Duration(), AttemptTimeout: s.AttemptTimeout.Duration(),
			}),
			UserAgent: config.UserAgent(), Now: time.Now,
		},
		Log:     c.Log,
		Metrics: c.Metrics,
		Now:     time.Now,
		Random:  rand.Float64,
	}, nil
}

// newHanging suspects an endpoint after a tenth of the time that an attempt may take, leaves
// endpoints that hang a tenth of all processes, and forgets a mark that four attempts in a row
// have not renewed.
func newHanging(store Marks, s Settings) *Hanging {
	return &Hanging{
		Store:   store,
		Holder:  crand.Text(),
		Suspect: s.AttemptTimeout.Duration() / 10,
		Limit:   s.MaximumConcurrency / 10,
		Window:  4 * s.AttemptTimeout.Duration(),
	}
}
