package deadletter

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
)

// Settings are the function's environment variables.
type Settings struct {
	DeadLettersTable    string        `env:"DEAD_LETTERS_TABLE,notEmpty"`
	DeliveriesTable     string        `env:"DELIVERIES_TABLE,notEmpty"`
	EndpointHealthTable string        `env:"ENDPOINT_HEALTH_TABLE,notEmpty"` // for notices
	DeadLetterKeyARN    string        `env:"DEAD_LETTER_KEY_ARN,notEmpty"`
	DeadLetterDays      config.Days   `env:"DEAD_LETTER_DAYS"` // 0: dead letters are kept for ever
	Notices             config.Switch `env:"NOTICES"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name.
func New(c Config) *Handler {
	s, tables := c.Settings, dynamodb.NewFromConfig(c.AWS)
	h := &Handler{
		States:  dynamo.NewDeliveries(tables, s.DeliveriesTable),
		Store:   dynamo.NewDeadLetters(tables, s.DeadLettersTable).KeepDead(s.DeadLetterDays.Duration()),
		Vault:   keyring.NewVault(kms.NewFromConfig(c.AWS), s.DeadLetterKeyARN),
		Log:     c.Log,
		Metrics: c.Metrics,
		Now:     time.Now,
	}
	// An interface that holds a nil pointer is not nil, so the field is set only here.
	if s.Notices {
		h.Notices = dynamo.NewCircuits(tables, s.EndpointHealthTable)
	}
	return h
}
