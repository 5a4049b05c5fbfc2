package inspect

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Settings are the function's environment variables. Inspect names every table and queue, since it counts all of them.
type Settings struct {
	AuditLogGroup            string `env:"AUDIT_LOG_GROUP,notEmpty"`
	DeliveriesTable          string `env:"DELIVERIES_TABLE,notEmpty"`
	DeadLettersTable         string `env:"DEAD_LETTERS_TABLE,notEmpty"`
	EndpointsTable           string `env:"ENDPOINTS_TABLE,notEmpty"`
	EndpointHealthTable      string `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	BacklogTable             string `env:"BACKLOG_TABLE,notEmpty"`
	JobsTable                string `env:"JOBS_TABLE,notEmpty"`
	DeadLetterKeyARN         string `env:"DEAD_LETTER_KEY_ARN,notEmpty"`
	EventsQueueURL           string `env:"EVENTS_QUEUE_URL,notEmpty"`
	DeliveryQueueURL         string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	RetryQueueURL            string `env:"RETRY_QUEUE_URL,notEmpty"`
	SlowQueueURL             string `env:"SLOW_QUEUE_URL,notEmpty"`
	DeadLetterQueueURL       string `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
	EventsDeadLetterQueueURL string `env:"EVENTS_DEAD_LETTER_QUEUE_URL,notEmpty"`

	// Those of deliver. From them follows which tenants are slow, when endpoints are probed, and how long deliveries are
	// kept.
	Minute             config.Seconds `env:"MINUTE_SECONDS"`
	MaximumConcurrency int            `env:"MAXIMUM_CONCURRENCY"`
	AttemptTimeout     config.Seconds `env:"ATTEMPT_TIMEOUT_SECONDS"`
	MaxLifeDays        int            `env:"MAX_LIFE_DAYS"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name.
func New(c Config) *Handler {
	s := c.Settings
	tables := dynamodb.NewFromConfig(c.AWS)
	queues := sqs.NewFromConfig(c.AWS)
	endpoints := dynamo.NewEndpoints(tables, s.EndpointsTable)
	circuits := dynamo.NewCircuits(tables, s.EndpointHealthTable)
	return &Handler{
		Deliveries:  dynamo.NewDeliveries(tables, s.DeliveriesTable),
		DeadLetters: dynamo.NewDeadLetters(tables, s.DeadLettersTable),
		Directory:   invoke.Directory{Endpoints: endpoints.Only(dynamo.Shown), Circuits: circuits},
		Owners:      endpoints,
		IDs:         endpoints.Only(dynamo.Keys),
		Subscribers: endpoints,
		Circuits:    circuits,
		Readings: dynamo.NewReader(dynamo.ReaderConfig{
			Client: tables, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable, Fields: dynamo.Named,
			Deleted: true,
		}),
		Allowance: allowance.New(s.MaximumConcurrency, s.AttemptTimeout.Duration()),
		Probing:   circuit.New(s.Minute.Duration(), 0), // inspect leases nothing
		MaxLife:   time.Duration(s.MaxLifeDays) * 24 * time.Hour,
		Backlog:   dynamo.NewBacklog(tables, s.BacklogTable),
		Vault:     keyring.NewVault(kms.NewFromConfig(c.AWS), s.DeadLetterKeyARN),
		Rejected:  rejected.Queue{Client: queues, URL: s.EventsDeadLetterQueueURL},
		Jobs:      dynamo.NewJobs(tables, s.JobsTable),
		Meter:     queues,
		Queues: map[string]string{
			"EventsQueue":         s.EventsQueueURL,
			eventsDeadLetterQueue: s.EventsDeadLetterQueueURL,
			"DeliveryQueue":       s.DeliveryQueueURL,
			"RetryQueue":          s.RetryQueueURL,
			"SlowQueue":           s.SlowQueueURL,
			"DeadLetterQueue":     s.DeadLetterQueueURL,
		},
		Audit: audit.New(c.AWS, s.AuditLogGroup, "inspect"),
		Log:   c.Log,
		Now:   time.Now,
	}
}
