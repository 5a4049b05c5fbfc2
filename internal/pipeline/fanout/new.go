package fanout

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// Settings are the function's environment variables.
type Settings struct {
	EndpointsTable           string `env:"ENDPOINTS_TABLE,notEmpty"`
	EndpointHealthTable      string `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	SlowQueueURL             string `env:"SLOW_QUEUE_URL,notEmpty"`
	EventsDeadLetterQueueURL string `env:"EVENTS_DEAD_LETTER_QUEUE_URL,notEmpty"`
	EventsMaxReceiveCount    int    `env:"EVENTS_MAX_RECEIVE_COUNT"`

	// Deliver's: they say which tenants are slow.
	MaximumConcurrency int            `env:"MAXIMUM_CONCURRENCY"`
	AttemptTimeout     config.Seconds `env:"ATTEMPT_TIMEOUT_SECONDS"`

	SuccessLogSample telemetry.Sample `env:"SUCCESS_LOG_SAMPLE"`
	SchemaCheck      SchemaCheck      `env:"SCHEMA_CHECK"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name. The error names a setting that
// is out of its range.
func New(c Config) (*Handler, error) {
	s := c.Settings
	tables := dynamodb.NewFromConfig(c.AWS)
	queues := sqs.NewFromConfig(c.AWS)
	if err := s.SuccessLogSample.Validate(); err != nil {
		return nil, fmt.Errorf("reading the environment: SUCCESS_LOG_SAMPLE %w", err)
	}
	if s.MaximumConcurrency < 2 || s.AttemptTimeout < 1 {
		return nil, errors.New("reading the environment: MAXIMUM_CONCURRENCY must be at least 2, ATTEMPT_TIMEOUT_SECONDS 1")
	}
	if !slices.Contains([]SchemaCheck{checkOff, checkWarn, checkReject}, s.SchemaCheck) {
		return nil, errors.New("reading the environment: SCHEMA_CHECK must be off, warn or reject")
	}
	return &Handler{
		Subscriptions: dynamo.NewEndpoints(tables, s.EndpointsTable),
		Slow:          dynamo.NewCircuits(tables, s.EndpointHealthTable),
		Allowance:     allowance.New(s.MaximumConcurrency, s.AttemptTimeout.Duration()),
		Deliveries:    queue.Sender{Client: queues, URL: s.DeliveryQueueURL},
		SlowQueue:     queue.Sender{Client: queues, URL: s.SlowQueueURL},
		Rejected:      queue.Sender{Client: queues, URL: s.EventsDeadLetterQueueURL, Events: true},
		Log:           c.Log,
		Metrics:       c.Metrics,
		MaxReceives:   s.EventsMaxReceiveCount,
		Sample:        s.SuccessLogSample,
		SchemaCheck:   s.SchemaCheck,
		schemas:       schemasOf(catalogue.Types()),
		Now:           time.Now,
		memory:        newMemory(),
	}, nil
}
