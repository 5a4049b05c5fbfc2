package control

import (
	"crypto/rand"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Settings are the function's environment variables.
type Settings struct {
	AuditLogGroup       string `env:"AUDIT_LOG_GROUP,notEmpty"`
	EndpointsTable      string `env:"ENDPOINTS_TABLE,notEmpty"`
	EndpointHealthTable string `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	BacklogTable        string `env:"BACKLOG_TABLE,notEmpty"`
	DeliveryQueueURL    string `env:"DELIVERY_QUEUE_URL,notEmpty"`

	Minute          config.Seconds `env:"MINUTE_SECONDS"`
	FunctionTimeout config.Seconds `env:"FUNCTION_TIMEOUT_SECONDS"` // of deliver
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name.
func New(c Config) *Handler {
	s, tables := c.Settings, dynamodb.NewFromConfig(c.AWS)
	return &Handler{
		Endpoints:  dynamo.NewEndpoints(tables, s.EndpointsTable).Only(dynamo.Named),
		Circuits:   dynamo.NewCircuits(tables, s.EndpointHealthTable),
		Backlog:    dynamo.NewBacklog(tables, s.BacklogTable),
		Deliveries: queue.Sender{Client: sqs.NewFromConfig(c.AWS), URL: s.DeliveryQueueURL},
		Settings:   circuit.New(s.Minute.Duration(), s.FunctionTimeout.Duration()),
		Audit:      audit.New(c.AWS, s.AuditLogGroup, "control"),
		Log:        c.Log,
		Now:        time.Now,
		NewID:      rand.Text,
	}
}
