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
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Settings are the function's environment variables.
type Settings struct {
	Stage               string         `env:"STAGE,notEmpty"`
	EndpointsTable      string         `env:"ENDPOINTS_TABLE,notEmpty"`
	EndpointHealthTable string         `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	DeliveriesTable     string         `env:"DELIVERIES_TABLE,notEmpty"`
	BacklogTable        string         `env:"BACKLOG_TABLE,notEmpty"`
	SecretsKeyARN       string         `env:"SECRETS_KEY_ARN,notEmpty"`
	RetryQueueURL       string         `env:"RETRY_QUEUE_URL,notEmpty"`
	RetryQueueARN       string         `env:"RETRY_QUEUE_ARN,notEmpty"`
	DeadLetterQueueURL  string         `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
	RetryBase           config.Seconds `env:"RETRY_BASE_SECONDS"`
	RetryFactor         float64        `env:"RETRY_FACTOR"`
	MaxRetries          int            `env:"MAX_RETRIES"`
	LongWait            config.Seconds `env:"LONG_WAIT_SECONDS"`
	Minute              config.Seconds `env:"MINUTE_SECONDS"`
	ConnectTimeout      config.Seconds `env:"CONNECT_TIMEOUT_SECONDS"`
	AttemptTimeout      config.Seconds `env:"ATTEMPT_TIMEOUT_SECONDS"`
	EndpointConcurrency int            `env:"ENDPOINT_CONCURRENCY"`
	MaximumConcurrency  int            `env:"MAXIMUM_CONCURRENCY"`
	RecordAcknowledged  string         `env:"RECORD_ACKNOWLEDGED"` // "all" or "none"
	AcknowledgedDays    int            `env:"ACKNOWLEDGED_DAYS"`

	SuccessLogSample telemetry.Sample `env:"SUCCESS_LOG_SAMPLE"`
	EgressAllowCIDRs string           `env:"EGRESS_ALLOW_CIDRS"`
	EgressAllowPorts string           `env:"EGRESS_ALLOW_PORTS"`
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
	schedule := retry.Schedule{
		Base: s.RetryBase.Duration(), Factor: s.RetryFactor, MaxRetries: s.MaxRetries, Long: s.LongWait.Duration(),
	}
	scheduleErr := schedule.Validate()
	if scheduleErr != nil {
		scheduleErr = fmt.Errorf("RETRY_BASE_SECONDS, RETRY_FACTOR, MAX_RETRIES, LONG_WAIT_SECONDS: %w", scheduleErr)
	}
	thresholds := health.Default().Scaled(s.Minute.Duration())
	thresholdsErr := thresholds.Validate()
	if thresholdsErr != nil {
		thresholdsErr = fmt.Errorf("MINUTE_SECONDS: %w", thresholdsErr)
	}
	policy, policyErr := egress.ParsePolicy(s.EgressAllowCIDRs, s.EgressAllowPorts, s.Stage)
	if err := errors.Join(scheduleErr, s.validate(), thresholdsErr, policyErr); err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	tables, queues := dynamodb.NewFromConfig(c.AWS), sqs.NewFromConfig(c.AWS)
	noted := dynamo.NewHealth(tables, s.EndpointHealthTable)
	return &Handler{
		Endpoints: dynamo.NewReader(dynamo.ReaderConfig{
			Client: tables, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable,
			EventualHealth: true,
		}),
		Secrets: keyring.NewSecrets(kms.NewFromConfig(c.AWS), s.SecretsKeyARN),
		States:  dynamo.NewDeliveries(tables, s.DeliveriesTable).KeepAcknowledged(s.acknowledgedLife()),
		Health:  noted, Backlog: dynamo.NewBacklog(tables, s.BacklogTable),
		RetryQueue:      queue.Sender{Client: queues, URL: s.RetryQueueURL},
		DeadLetterQueue: queue.Sender{Client: queues, URL: s.DeadLetterQueueURL},
		Visibility:      queue.Visibility{Client: queues, URL: s.RetryQueueURL},
		RetryQueueARN:   s.RetryQueueARN,
		Schedule:        schedule,
		PerEndpoint:     s.EndpointConcurrency,
		Thresholds:      thresholds,
		Slow:            newSlowLane(noted, s),
		Unrecorded:      s.RecordAcknowledged == recordNone,
		Sample:          s.SuccessLogSample,
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

// newSlowLane suspects an endpoint after a tenth of the time that an attempt may take, and leaves
// slow endpoints a tenth of the processes of each queue.
func newSlowLane(notes Notes, s Settings) *SlowLane {
	return &SlowLane{
		Notes: notes,
		Settings: health.SlowSettings{
			Self: crand.Text(), Limit: health.SlowLimit(s.MaximumConcurrency),
			Wait: s.Minute.Duration(), Longest: 60 * s.Minute.Duration(), // an hour
			Apart: s.AttemptTimeout.Duration() * 2 / 3,
		},
		Suspect: s.AttemptTimeout.Duration() / 10,
		Timeout: s.AttemptTimeout.Duration(),
	}
}
