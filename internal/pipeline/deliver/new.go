package deliver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/retry"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Settings are the function's environment variables.
type Settings struct {
	Stage               string              `env:"STAGE,notEmpty"`
	EndpointsTable      string              `env:"ENDPOINTS_TABLE,notEmpty"`
	EndpointHealthTable string              `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	DeliveriesTable     string              `env:"DELIVERIES_TABLE,notEmpty"`
	BacklogTable        string              `env:"BACKLOG_TABLE,notEmpty"`
	SecretsKeyARN       string              `env:"SECRETS_KEY_ARN,notEmpty"`
	RetryQueueURL       string              `env:"RETRY_QUEUE_URL,notEmpty"`
	RetryQueueARN       string              `env:"RETRY_QUEUE_ARN,notEmpty"`
	SlowQueueURL        string              `env:"SLOW_QUEUE_URL,notEmpty"`
	SlowQueueARN        string              `env:"SLOW_QUEUE_ARN,notEmpty"`
	DeadLetterQueueURL  string              `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
	RetryBase           config.Seconds      `env:"RETRY_BASE_SECONDS"`
	RetryFactor         float64             `env:"RETRY_FACTOR"`
	MaxRetries          int                 `env:"MAX_RETRIES"`
	LongWait            config.Seconds      `env:"LONG_WAIT_SECONDS"`
	MaxLifeDays         int                 `env:"MAX_LIFE_DAYS"`
	Minute              config.Seconds      `env:"MINUTE_SECONDS"`
	FunctionTimeout     config.Seconds      `env:"FUNCTION_TIMEOUT_SECONDS"`
	ConnectTimeout      config.Seconds      `env:"CONNECT_TIMEOUT_SECONDS"`
	AttemptTimeout      config.Seconds      `env:"ATTEMPT_TIMEOUT_SECONDS"`
	CompanionHeaders    delivery.Companions `env:"COMPANION_HEADERS"`
	EndpointConcurrency int                 `env:"ENDPOINT_CONCURRENCY"`
	MaximumConcurrency  int                 `env:"MAXIMUM_CONCURRENCY"`
	BatchWindow         config.Seconds      `env:"BATCH_WINDOW_SECONDS"`
	RecordAcknowledged  string              `env:"RECORD_ACKNOWLEDGED"` // "all" or "none"
	AcknowledgedDays    int                 `env:"ACKNOWLEDGED_DAYS"`

	AsymmetricSignatures config.Switch `env:"ASYMMETRIC_SIGNATURES"`
	ForwardTrace         config.Switch `env:"FORWARD_TRACE"`

	SuccessLogSample telemetry.Sample `env:"SUCCESS_LOG_SAMPLE"`
	HeartbeatTenant  string           `env:"HEARTBEAT_TENANT"` // empty: there is no heartbeat
	EgressAllowCIDRs string           `env:"EGRESS_ALLOW_CIDRS"`
	EgressDenyCIDRs  string           `env:"EGRESS_DENY_CIDRS"`
	EgressAllowPorts string           `env:"EGRESS_ALLOW_PORTS"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name. The error names every
// setting that is out of its range.
func New(c Config) (*Handler, error) {
	s := c.Settings
	policy, err := egress.ParsePolicy(egress.Settings{
		Stage: s.Stage, AllowCIDRs: s.EgressAllowCIDRs, DenyCIDRs: s.EgressDenyCIDRs, AllowPorts: s.EgressAllowPorts,
	})
	if err = errors.Join(s.validate(), err); err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	client := egress.New(egress.Config{
		Policy: policy, ConnectTimeout: s.ConnectTimeout.Duration(), AttemptTimeout: s.AttemptTimeout.Duration(),
	})
	tables, queues := dynamodb.NewFromConfig(c.AWS), sqs.NewFromConfig(c.AWS)
	hide := func(url string) Visibility { return queue.Visibility{Client: queues, URL: url} }
	h := &Handler{
		Tables: Tables{
			Endpoints: dynamo.NewReader(dynamo.ReaderConfig{
				Client: tables, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable,
				// An eventually consistent read costs half. A circuit that has just opened is obeyed a moment later.
				EventualCircuits: true,
			}),
			Circuits:   dynamo.NewCircuits(tables, s.EndpointHealthTable).WithoutNotices(),
			Rates:      dynamo.NewRates(tables, s.EndpointHealthTable),
			Backlog:    dynamo.NewBacklog(tables, s.BacklogTable),
			Deliveries: dynamo.NewDeliveries(tables, s.DeliveriesTable).KeepAcknowledged(days(s.AcknowledgedDays)),
		},
		Queues: Queues{
			Retry:      queue.Sender{Client: queues, URL: s.RetryQueueURL},
			Slow:       queue.Sender{Client: queues, URL: s.SlowQueueURL},
			DeadLetter: queue.Sender{Client: queues, URL: s.DeadLetterQueueURL},
			Hide: map[delivery.Queue]Visibility{
				delivery.RetryQueue: hide(s.RetryQueueURL), delivery.SlowQueue: hide(s.SlowQueueURL),
			},
			ARNs: map[string]delivery.Queue{
				s.RetryQueueARN: delivery.RetryQueue, s.SlowQueueARN: delivery.SlowQueue,
			},
		},
		Secrets: keyring.NewSecrets(kms.NewFromConfig(c.AWS), s.SecretsKeyARN),
		Tokens: &tokens.Keeper{
			Server: tokens.NewClient(client, config.UserAgent()), Shared: dynamo.NewTokens(tables, s.EndpointHealthTable),
			Patience: min(token.Patience, s.AttemptTimeout.Duration()), Now: time.Now,
		},
		Sender: delivery.Sender{
			Client: client, UserAgent: config.UserAgent(),
			Companions: s.CompanionHeaders, Asymmetric: bool(s.AsymmetricSignatures), Now: time.Now,
		},
		Rules:  s.rules(),
		Output: Output{Log: c.Log, Metrics: c.Metrics, Sample: s.SuccessLogSample, Heartbeat: s.HeartbeatTenant},
		Now:    time.Now,
		Random: rand.Float64,
	}
	if s.ForwardTrace {
		h.Sender.NewSpan = newSpan
	}
	return h, nil
}

// newSpan is any id but zero, which stands for none.
func newSpan() (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], 1+rand.Uint64N(math.MaxUint64)) //nolint:gosec // it keeps no secret
	return id
}

// The values of RECORD_ACKNOWLEDGED.
const (
	recordAll  = "all"
	recordNone = "none" // of successes at the first receive
)

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// rules are the numbers that decide.
func (s Settings) rules() Rules {
	return Rules{
		Schedule: retry.Schedule{
			Base: s.RetryBase.Duration(), Factor: s.RetryFactor, MaxRetries: s.MaxRetries, Long: s.LongWait.Duration(),
			MaxLife: days(s.MaxLifeDays),
		},
		Circuit:     circuit.New(s.Minute.Duration(), s.FunctionTimeout.Duration()),
		Allowance:   allowance.New(s.MaximumConcurrency, s.AttemptTimeout.Duration()).Behind(s.BatchWindow.Duration()),
		Attempt:     s.AttemptTimeout.Duration(),
		PerEndpoint: s.EndpointConcurrency,
		Unrecorded:  s.RecordAcknowledged == recordNone,
	}
}

// validate names every setting outside the range of the template's parameter. The egress policy checks its own.
func (s Settings) validate() error {
	var errs []error
	if err := s.rules().Schedule.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("RETRY_BASE_SECONDS, RETRY_FACTOR, MAX_RETRIES, LONG_WAIT_SECONDS: %w", err))
	}
	for _, setting := range []struct {
		name            string
		value, from, to int
	}{
		{"MINUTE_SECONDS", int(s.Minute), 1, 60},
		{"FUNCTION_TIMEOUT_SECONDS", int(s.FunctionTimeout), 3, 900},
		{"CONNECT_TIMEOUT_SECONDS", int(s.ConnectTimeout), 1, 60},
		{"ATTEMPT_TIMEOUT_SECONDS", int(s.AttemptTimeout), 1, 120},
		{"ENDPOINT_CONCURRENCY", s.EndpointConcurrency, 1, 1000},
		{"MAXIMUM_CONCURRENCY", s.MaximumConcurrency, 2, 1000},
		{"BATCH_WINDOW_SECONDS", int(s.BatchWindow), 0, 300},
		{"ACKNOWLEDGED_DAYS", s.AcknowledgedDays, 1, 365},
		{"MAX_LIFE_DAYS", s.MaxLifeDays, 1, 7},
	} {
		if setting.value < setting.from || setting.value > setting.to {
			errs = append(errs, fmt.Errorf("%s must be %d to %d", setting.name, setting.from, setting.to))
		}
	}
	if err := s.CompanionHeaders.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("COMPANION_HEADERS %w", err))
	}
	if err := s.CompanionHeaders.Carry(bool(s.AsymmetricSignatures)); err != nil {
		errs = append(errs, fmt.Errorf("ASYMMETRIC_SIGNATURES %w", err))
	}
	if err := s.SuccessLogSample.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("SUCCESS_LOG_SAMPLE %w", err))
	}
	if s.RecordAcknowledged != recordAll && s.RecordAcknowledged != recordNone {
		errs = append(errs, fmt.Errorf("RECORD_ACKNOWLEDGED must be %s or %s", recordAll, recordNone))
	}
	return errors.Join(errs...)
}
