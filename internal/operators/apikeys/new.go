package apikeys

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
)

// Settings are the function's environment variables.
type Settings struct {
	AuditLogGroup string `env:"AUDIT_LOG_GROUP,notEmpty"`
	APIKeysTable  string `env:"API_KEYS_TABLE,notEmpty"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name.
func New(c Config) *Handler {
	return &Handler{
		Keys:  dynamo.NewAPIKeys(dynamodb.NewFromConfig(c.AWS), c.Settings.APIKeysTable),
		Audit: audit.New(c.AWS, c.Settings.AuditLogGroup, "apikeys"),
		Log:   c.Log,
		Now:   time.Now,
	}
}
