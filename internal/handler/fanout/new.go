package fanout

import (
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
}

// Config is what New needs. All fields are required.
type Config struct {
	Settings Settings
	AWS      aws.Config
	Log      *slog.Logger
	Metrics  *telemetry.Metrics
}

// New returns the handler on the AWS resources that the settings name.
func New(c Config) *Handler {
	s, queues := c.Settings, sqs.NewFromConfig(c.AWS)
	return &Handler{
		Subscriptions: dynamo.NewEndpoints(dynamodb.NewFromConfig(c.AWS), s.EndpointsTable),
		Deliveries:    queue.Sender{Client: queues, URL: s.DeliveryQueueURL},
		Rejected:      queue.Sender{Client: queues, URL: s.EventsDeadLetterQueueURL},
		Log:           c.Log,
		Metrics:       c.Metrics,
		MaxReceives:   s.EventsMaxReceiveCount,
		Now:           time.Now,
	}
}
