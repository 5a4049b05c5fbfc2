package release

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Settings are the function's environment variables.
type Settings struct {
	EndpointsTable      string         `env:"ENDPOINTS_TABLE,notEmpty"`
	DeliveriesTable     string         `env:"DELIVERIES_TABLE,notEmpty"`
	BacklogTable        string         `env:"BACKLOG_TABLE,notEmpty"`
	EndpointHealthTable string         `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	RetryQueueURL       string         `env:"RETRY_QUEUE_URL,notEmpty"`
	DeadLetterQueueURL  string         `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
	Minute              config.Seconds `env:"MINUTE_SECONDS"`
	FunctionTimeout     config.Seconds `env:"FUNCTION_TIMEOUT_SECONDS"` // of deliver
}

// Config is what New needs. All fields are required.
type Config struct {
	Settings Settings
	AWS      aws.Config
	Log      *slog.Logger
	Metrics  *telemetry.Metrics
}

// New returns the handler on the AWS resources that the settings name.
func New(c Config) (*Handler, error) {
	s := c.Settings
	thresholds := health.Default().Scaled(s.Minute.Duration())
	thresholds.FunctionTimeout = s.FunctionTimeout.Duration()
	if err := thresholds.Validate(); err != nil {
		return nil, fmt.Errorf("reading the environment: MINUTE_SECONDS, FUNCTION_TIMEOUT_SECONDS: %w", err)
	}
	tables, queues := dynamodb.NewFromConfig(c.AWS), sqs.NewFromConfig(c.AWS)
	waiting := dynamo.NewBacklog(tables, s.BacklogTable)
	return &Handler{
		Due:     waiting,
		Shards:  waiting,
		Changes: waiting,
		Health:  dynamo.NewHealth(tables, s.EndpointHealthTable),
		Endpoints: dynamo.NewReader(dynamo.ReaderConfig{
			Client: tables, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable, WithoutSecrets: true,
		}),
		States:          dynamo.NewDeliveries(tables, s.DeliveriesTable),
		RetryQueue:      queue.Sender{Client: queues, URL: s.RetryQueueURL},
		DeadLetterQueue: queue.Sender{Client: queues, URL: s.DeadLetterQueueURL},
		Thresholds:      thresholds,
		Log:             c.Log,
		Metrics:         c.Metrics,
		Now:             time.Now,
		Random:          rand.Float64,
	}, nil
}
