package fanout

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// Settings are the function's environment variables.
type Settings struct {
	EndpointsTable           string `env:"ENDPOINTS_TABLE,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	EventsDeadLetterQueueURL string `env:"EVENTS_DEAD_LETTER_QUEUE_URL,notEmpty"`
	EventsMaxReceiveCount    int    `env:"EVENTS_MAX_RECEIVE_COUNT"`

	SuccessLogSample telemetry.Sample `env:"SUCCESS_LOG_SAMPLE"`
}

// Config is what New needs. All fields are required.
type Config struct {
	Settings Settings
	AWS      aws.Config
	Log      *slog.Logger
	Metrics  *telemetry.Metrics
}

// New returns the handler on the AWS resources that the settings name. The error names a setting that
// is out of its range.
func New(c Config) (*Handler, error) {
	s, queues := c.Settings, sqs.NewFromConfig(c.AWS)
	if err := s.SuccessLogSample.Validate(); err != nil {
		return nil, fmt.Errorf("reading the environment: SUCCESS_LOG_SAMPLE %w", err)
	}
	return &Handler{
		Subscriptions: dynamo.NewEndpoints(dynamodb.NewFromConfig(c.AWS), s.EndpointsTable),
		Deliveries:    queue.Sender{Client: queues, URL: s.DeliveryQueueURL},
		Rejected:      queue.Sender{Client: queues, URL: s.EventsDeadLetterQueueURL},
		Log:           c.Log,
		Metrics:       c.Metrics,
		MaxReceives:   s.EventsMaxReceiveCount,
		Sample:        s.SuccessLogSample,
		Now:           time.Now,
	}, nil
}
