package webhooks

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Settings are the function's environment variables.
type Settings struct {
	AuditLogGroup    string `env:"AUDIT_LOG_GROUP,notEmpty"`
	Stage            string `env:"STAGE,notEmpty"`
	EndpointsTable   string `env:"ENDPOINTS_TABLE,notEmpty"`
	APIKeysTable     string `env:"API_KEYS_TABLE,notEmpty"`
	HealthTable      string `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	DeliveriesTable  string `env:"DELIVERIES_TABLE,notEmpty"`
	DeliveryQueueURL string `env:"DELIVERY_QUEUE_URL,notEmpty"`
	SecretsKeyARN    string `env:"SECRETS_KEY_ARN,notEmpty"`
	EgressAllowCIDRs string `env:"EGRESS_ALLOW_CIDRS"`
	EgressDenyCIDRs  string `env:"EGRESS_DENY_CIDRS"`
	EgressAllowPorts string `env:"EGRESS_ALLOW_PORTS"`
	SourceAddresses  string `env:"SOURCE_ADDRESSES"`

	DeletedEndpointDays  config.Days `env:"DELETED_ENDPOINT_DAYS"` // 0: deleted endpoints are kept for ever
	MaxEndpoints         int         `env:"MAX_ENDPOINTS,notEmpty"`
	MaxEndpointsPerHost  int         `env:"MAX_ENDPOINTS_PER_HOST,notEmpty"`
	TestsPerMinute       int         `env:"TESTS_PER_MINUTE,notEmpty"`
	KeyRequestsPerMinute int         `env:"API_KEY_REQUESTS_PER_MINUTE,notEmpty"`

	CompanionHeaders     delivery.Companions `env:"COMPANION_HEADERS"`
	AsymmetricSignatures config.Switch       `env:"ASYMMETRIC_SIGNATURES"`
}

// quotas says which of the quotas are out of their range.
func (s Settings) quotas() (err error) {
	for _, q := range []struct {
		name             string
		value, low, high int
	}{
		{"MAX_ENDPOINTS", s.MaxEndpoints, 1, endpoint.MostLive},
		{"MAX_ENDPOINTS_PER_HOST", s.MaxEndpointsPerHost, 1, endpoint.MostLive},
		{"TESTS_PER_MINUTE", s.TestsPerMinute, 1, 60},
		{"API_KEY_REQUESTS_PER_MINUTE", s.KeyRequestsPerMinute, 10, 1_000_000},
	} {
		if q.value < q.low || q.value > q.high {
			err = errors.Join(err, fmt.Errorf("%s must be %d to %d", q.name, q.low, q.high))
		}
	}
	return err
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name. The error names the
// variables that are out of their range.
func New(c Config) (*Handler, error) {
	s, tables := c.Settings, dynamodb.NewFromConfig(c.AWS)
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: s.Stage, AllowCIDRs: s.EgressAllowCIDRs, DenyCIDRs: s.EgressDenyCIDRs, AllowPorts: s.EgressAllowPorts,
	})
	cidrs, faulty := ParseSources(s.SourceAddresses)
	err = errors.Join(err, faulty)
	err = errors.Join(err, s.quotas())
	if unknown := s.CompanionHeaders.Validate(); unknown != nil {
		err = errors.Join(err, fmt.Errorf("COMPANION_HEADERS %w", unknown))
	}
	if lost := s.CompanionHeaders.Carry(bool(s.AsymmetricSignatures)); lost != nil {
		err = errors.Join(err, fmt.Errorf("ASYMMETRIC_SIGNATURES %w", lost))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	endpoints := dynamo.NewEndpoints(tables, s.EndpointsTable).KeepDeleted(s.DeletedEndpointDays.Duration()).
		Most(s.MaxEndpoints)
	h := &Handler{
		Endpoints: endpoints,
		Keys:      dynamo.NewAPIKeys(tables, s.APIKeysTable),
		Secrets:   keyring.NewSecrets(kms.NewFromConfig(c.AWS), s.SecretsKeyARN),
		URLs:      endpoint.URLPolicy{Addr: policy.Addr, Port: policy.Port},
		Audit:     audit.New(c.AWS, s.AuditLogGroup, "webhooks"),
		Log:       c.Log,
		Now:       time.Now,
		Random:    mathrand.Float64,
		Budget:    s.KeyRequestsPerMinute,
		Bounds:    endpoint.Bounds{Live: s.MaxEndpoints, AtSite: s.MaxEndpointsPerHost},

		Companions: s.CompanionHeaders,
		Asymmetric: bool(s.AsymmetricSignatures),
		Published:  endpoints,
		Sources:    cidrs,
		Tests: Tests{
			Circuits:   dynamo.NewCircuits(tables, s.HealthTable),
			Counts:     dynamo.NewTestCounts(tables, s.DeliveriesTable),
			Deliveries: queue.Sender{Client: sqs.NewFromConfig(c.AWS), URL: s.DeliveryQueueURL},
			NewID:      rand.Text,
			PerMinute:  s.TestsPerMinute,
		},
	}
	h.keySets.Bound = maxKeySets
	return h, nil
}
