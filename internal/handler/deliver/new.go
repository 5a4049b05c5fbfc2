package deliver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
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
	SlowQueueURL        string         `env:"SLOW_QUEUE_URL,notEmpty"`
	SlowQueueARN        string         `env:"SLOW_QUEUE_ARN,notEmpty"`
	DeadLetterQueueURL  string         `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
	RetryBase           config.Seconds `env:"RETRY_BASE_SECONDS"`
	RetryFactor         float64        `env:"RETRY_FACTOR"`
	MaxRetries          int            `env:"MAX_RETRIES"`
	LongWait            config.Seconds `env:"LONG_WAIT_SECONDS"`
	MaxLifeDays         int            `env:"MAX_LIFE_DAYS"`
	Minute              config.Seconds `env:"MINUTE_SECONDS"`
	FunctionTimeout     config.Seconds `env:"FUNCTION_TIMEOUT_SECONDS"`
	ConnectTimeout      config.Seconds `env:"CONNECT_TIMEOUT_SECONDS"`
	AttemptTimeout      config.Seconds `env:"ATTEMPT_TIMEOUT_SECONDS"`
	EndpointConcurrency int            `env:"ENDPOINT_CONCURRENCY"`
	MaximumConcurrency  int            `env:"MAXIMUM_CONCURRENCY"`
	RecordAcknowledged  string         `env:"RECORD_ACKNOWLEDGED"` // "all" or "none"
	AcknowledgedDays    int            `env:"ACKNOWLEDGED_DAYS"`

	SuccessLogSample telemetry.Sample `env:"SUCCESS_LOG_SAMPLE"`
	EgressAllowCIDRs string           `env:"EGRESS_ALLOW_CIDRS"`
	EgressDenyCIDRs  string           `env:"EGRESS_DENY_CIDRS"`
	EgressAllowPorts string           `env:"EGRESS_ALLOW_PORTS"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name. The error names every
// setting that is out of its range.
func New(c Config) (*Handler, error) {
	s := c.Settings
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: s.Stage, AllowCIDRs: s.EgressAllowCIDRs, DenyCIDRs: s.EgressDenyCIDRs, AllowPorts: s.EgressAllowPorts,
	})
	if err = errors.Join(s.validate(), err); err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	tables, queues := dynamodb.NewFromConfig(c.AWS), sqs.NewFromConfig(c.AWS)
	hide := func(url string) Visibility { return queue.Visibility{Client: queues, URL: url} }
	return &Handler{
		Tables: Tables{
			Endpoints: dynamo.NewReader(dynamo.ReaderConfig{
				Client: tables, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable,
				EventualCircuits: true,
			}),
			Circuits:   dynamo.NewCircuits(tables, s.EndpointHealthTable),
			Backlog:    dynamo.NewBacklog(tables, s.BacklogTable),
			Deliveries: dynamo.NewDeliveries(tables, s.DeliveriesTable).KeepAcknowledged(s.acknowledgedLife()),
		},
		Queues: Queues{
			Retry:      queue.Sender{Client: queues, URL: s.RetryQueueURL},
			Slow:       queue.Sender{Client: queues, URL: s.SlowQueueURL},
			DeadLetter: queue.Sender{Client: queues, URL: s.DeadLetterQueueURL},
			Hide: map[delivery.Queue]Visibility{
				delivery.RetryQueue: hide(s.RetryQueueURL), delivery.SlowQueue: hide(s.SlowQueueURL),
			},
			ARNs: map[string]delivery.Queue{
				s.RetryQueueARN: delivery.RetryQueue, s.SlowQueueARN: delivery.SlowQueue,
			},
		},
		Secrets: keyring.NewSecrets(kms.NewFromConfig(c.AWS), s.SecretsKeyARN),
		Sender: delivery.Sender{
			Client: egress.New(egress.Config{
				Policy: policy, ConnectTimeout: s.ConnectTimeout.Duration(), AttemptTimeout: s.AttemptTimeout.Duration(),
			}),
			UserAgent: config.UserAgent(), Now: time.Now,
		},
		Rules:  s.rules(),
		Output: Output{Log: c.Log, Metrics: c.Metrics, Sample: s.SuccessLogSample},
		Now:    time.Now,
		Random: rand.Float64,
	}, nil
}
