package control

import (
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/dynamo"
)

// Settings are the function's environment variables.
type Settings struct {
	EndpointsTable      string `env:"ENDPOINTS_TABLE,notEmpty"`
	EndpointHealthTable string `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	BacklogTable        string `env:"BACKLOG_TABLE,notEmpty"`
}

// Config is what New needs. All fields are required.
type Config struct {
	Settings Settings
	AWS      aws.Config
	Log      *slog.Logger
}

// New returns the handler on the AWS resources that the settings name.
func New(c Config) *Handler {
	s, tables := c.Settings, dynamodb.NewFromConfig(c.AWS)
	return &Handler{
		Endpoints: dynamo.NewEndpoints(tables, s.EndpointsTable).WithoutSecrets(),
		Health:    dynamo.NewHealth(tables, s.EndpointHealthTable),
		Backlog:   dynamo.NewBacklog(tables, s.BacklogTable),
		Log:       c.Log,
		Now:       time.Now,
	}
}
