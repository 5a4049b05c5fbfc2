package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/notice"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// Settings are the function's environment variables.
type Settings struct {
	EndpointsTable      string        `env:"ENDPOINTS_TABLE,notEmpty"`
	DeliveriesTable     string        `env:"DELIVERIES_TABLE,notEmpty"`
	BacklogTable        string        `env:"BACKLOG_TABLE,notEmpty"`
	EndpointHealthTable string        `env:"ENDPOINT_HEALTH_TABLE,notEmpty"`
	RetryQueueURL       string        `env:"RETRY_QUEUE_URL,notEmpty"`
	DeadLetterQueueURL  string        `env:"DEAD_LETTER_QUEUE_URL,notEmpty"`
	JobsTable           string        `env:"JOBS_TABLE,notEmpty"`
	ReplayFunction      string        `env:"REPLAY_FUNCTION,notEmpty"`
	Notices             config.Switch `env:"NOTICES"`
	// NoticesBus is named in every stack, and is there where Notices is on.
	NoticesBus     string         `env:"NOTICES_BUS,notEmpty"`
	NoticesContact config.Switch  `env:"NOTICES_CONTACT"` // of notices alone
	Minute         config.Seconds `env:"MINUTE_SECONDS"`

	// The rest are settings of deliver as well: both functions decide by the same numbers.
	FunctionTimeout    config.Seconds `env:"FUNCTION_TIMEOUT_SECONDS"`
	RetryBase          config.Seconds `env:"RETRY_BASE_SECONDS"`
	RetryFactor        float64        `env:"RETRY_FACTOR"`
	MaxRetries         int            `env:"MAX_RETRIES"`
	LongWait           config.Seconds `env:"LONG_WAIT_SECONDS"`
	MaxLifeDays        int            `env:"MAX_LIFE_DAYS"`
	MaximumConcurrency int            `env:"MAXIMUM_CONCURRENCY"`
	AttemptTimeout     config.Seconds `env:"ATTEMPT_TIMEOUT_SECONDS"`
}

// Config holds New's arguments.
type Config = config.Function[Settings]

// New returns the handler on the AWS resources that the settings name. An owner's URL and description are read only
// where notices name them.
func New(c Config) (*Handler, error) {
	s := c.Settings
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("reading the environment: %w", err)
	}
	tables, queues := dynamodb.NewFromConfig(c.AWS), sqs.NewFromConfig(c.AWS)
	read := dynamo.ReaderConfig{
		Client: tables, Endpoints: s.EndpointsTable, EndpointHealth: s.EndpointHealthTable, Fields: dynamo.Deciding,
	}
	circuits := circuit.New(s.Minute.Duration(), s.FunctionTimeout.Duration())
	circuits.Notices = bool(s.Notices)
	var bus Bus
	var contacts Owners
	if s.Notices {
		read.Fields = dynamo.Named
		bus = notice.Bus{Client: eventbridge.NewFromConfig(c.AWS), Name: s.NoticesBus}
		if s.NoticesContact {
			contacts = dynamo.NewEndpoints(tables, s.EndpointsTable)
		}
	}
	return &Handler{
		Backlog:         dynamo.NewBacklog(tables, s.BacklogTable),
		Circuits:        dynamo.NewCircuits(tables, s.EndpointHealthTable),
		Endpoints:       dynamo.NewReader(read),
		Rates:           dynamo.NewRates(tables, s.EndpointHealthTable),
		Records:         dynamo.NewDeliveries(tables, s.DeliveriesTable),
		RetryQueue:      queue.Sender{Client: queues, URL: s.RetryQueueURL},
		DeadLetterQueue: queue.Sender{Client: queues, URL: s.DeadLetterQueueURL},
		Wake:            wakeReplay(dynamo.NewJobs(tables, s.JobsTable), lambda.NewFromConfig(c.AWS), s.ReplayFunction),
		Bus:             bus,
		Contacts:        contacts,
		Settings:        circuits,
		Schedule:        s.schedule(),
		Allowance:       allowance.New(s.MaximumConcurrency, s.AttemptTimeout.Duration()),
		Log:             c.Log,
		Metrics:         c.Metrics,
		Now:             time.Now,
		Random:          rand.Float64,
	}, nil
}

// schedule is the schedule of retries.
func (s Settings) schedule() retry.Schedule {
	return retry.Schedule{
		Base: s.RetryBase.Duration(), Factor: s.RetryFactor, MaxRetries: s.MaxRetries,
		Long: s.LongWait.Duration(), MaxLife: time.Duration(s.MaxLifeDays) * 24 * time.Hour,
	}
}

// validate names every setting out of its range.
func (s Settings) validate() error {
	var errs []error
	if err := s.schedule().Validate(); err != nil {
		errs = append(errs, fmt.Errorf(
			"RETRY_BASE_SECONDS, RETRY_FACTOR, MAX_RETRIES, LONG_WAIT_SECONDS, MAX_LIFE_DAYS: %w", err))
	}
	if min(int(s.Minute), int(s.FunctionTimeout), s.MaximumConcurrency, int(s.AttemptTimeout)) < 1 {
		errs = append(errs, errors.New("MINUTE_SECONDS, FUNCTION_TIMEOUT_SECONDS, MAXIMUM_CONCURRENCY and "+
			"ATTEMPT_TIMEOUT_SECONDS must be at least 1"))
	}
	return errors.Join(errs...)
}

// Invoker is the part of the Lambda client that wakes replay.
type Invoker interface {
	Invoke(ctx context.Context, in *lambda.InvokeInput, options ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// Jobs tells whether a job is running (dynamo.Jobs).
type Jobs interface {
	Running(ctx context.Context) (bool, error)
}

// wakeReplay returns the call that invokes replay while a job is running. Replay, which alone may open dead letters,
// works it off.
func wakeReplay(jobs Jobs, client Invoker, replay string) func(context.Context) error {
	return func(ctx context.Context) error {
		running, err := jobs.Running(ctx)
		if err != nil || !running {
			return err
		}
		_, err = client.Invoke(ctx, &lambda.InvokeInput{
			FunctionName: &replay, InvocationType: types.InvocationTypeEvent,
			Payload: []byte(`{"action":"work_jobs","operator":"release"}`),
		})
		if err != nil {
			return fmt.Errorf("invoking %s: %w", replay, err)
		}
		return nil
	}
}
