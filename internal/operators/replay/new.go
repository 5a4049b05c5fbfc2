package replay

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
)

// Settings are the function's environment variables. Replay has a name of every table, since it erases tenants.
type Settings struct {
	AuditLogGroup            string `env:"AUDIT_LOG_GROUP,notEmpty"`
	ApiKeysTable             string `env:"API_KEYS_TABLE,notEmpty"`
	BacklogTable             string `env:"BACKLOG_TABLE,notEmpty"`
	DeadLettersTable         string `env:"DEAD_LETTERS_TABLE,notEmpty"`
	DeliveriesTable          string `env:"DELIVERIES_TABLE,notEmpty"`
	EndpointHealthTable      string `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	EndpointsTable           string `env:"ENDPOINTS_TABLE,notEmpty"`
	DeadLetterKeyARN         string `env:"DEAD_LETTER_KEY_ARN,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	JobsTable                string `env:"JOBS_TABLE,notEmpty"`
	RetryQueueURL            string `env:"RETRY_QUEUE_URL,notEmpty"`
	EventsQueueURL           string `env:"EVENTS_QUEUE_URL,notEmpty"`
	EventsDeadLetterQueueURL string `env:"EVENTS_DEAD_LETTER_QUEUE_URL,notEmpty"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name. Of an endpoint it reads the fields that decide
// about a delivery, and no secret: its role may read no more.
func New(c Config) *Handler {
	s := c.Settings
	tables := dynamodb.NewFromConfig(c.AWS)
	queues := sqs.NewFromConfig(c.AWS)
	return &Handler{
		DeadLetters: dynamo.NewDeadLetters(tables, s.DeadLettersTable),
		States:      dynamo.NewDeliveries(tables, s.DeliveriesTable),
		Endpoints:   dynamo.NewEndpoints(tables, s.EndpointsTable).Only(dynamo.Deciding),
		Jobs:        dynamo.NewJobs(tables, s.JobsTable),
		Vault:       keyring.NewVault(kms.NewFromConfig(c.AWS), s.DeadLetterKeyARN),
		Deliveries:  queue.Sender{Client: queues, URL: s.DeliveryQueueURL},
		Retries:     queue.Sender{Client: queues, URL: s.RetryQueueURL},
		Events:      queue.Sender{Client: queues, URL: s.EventsQueueURL, Events: true},
		Rejected:    rejected.Queue{Client: queues, URL: s.EventsDeadLetterQueueURL},
		Erasure: dynamo.NewErasure(tables, dynamo.ErasedTables{
			APIKeys: s.ApiKeysTable, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable,
			Backlog: s.BacklogTable, Deliveries: s.DeliveriesTable, DeadLetters: s.DeadLettersTable, Jobs: s.JobsTable,
		}),
		Audit: audit.New(c.AWS, s.AuditLogGroup, "replay"),
		Log:   c.Log,
		Now:   time.Now,
	}
}
