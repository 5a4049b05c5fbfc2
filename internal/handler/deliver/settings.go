package deliver

import (
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/retry"
)

// The values of RECORD_ACKNOWLEDGED.
const (
	recordAll  = "all"
	recordNone = "none" // of successes at the first receive
)

func (s Settings) acknowledgedLife() time.Duration {
	return time.Duration(s.AcknowledgedDays) * 24 * time.Hour
}

// rules are the numbers that decide.
func (s Settings) rules() Rules {
	return Rules{
		Schedule: retry.Schedule{
			Base: s.RetryBase.Duration(), Factor: s.RetryFactor, MaxRetries: s.MaxRetries, Long: s.LongWait.Duration(),
			MaxLife: time.Duration(s.MaxLifeDays) * 24 * time.Hour,
		},
		Circuit:     circuit.New(s.Minute.Duration(), s.FunctionTimeout.Duration()),
		Allowance:   allowance.New(s.MaximumConcurrency, s.AttemptTimeout.Duration()),
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
		{"ACKNOWLEDGED_DAYS", s.AcknowledgedDays, 1, 365},
		{"MAX_LIFE_DAYS", s.MaxLifeDays, 1, 7},
	} {
		if setting.value < setting.from || setting.value > setting.to {
			errs = append(errs, fmt.Errorf("%s must be %d to %d", setting.name, setting.from, setting.to))
		}
	}
	if err := s.SuccessLogSample.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("SUCCESS_LOG_SAMPLE %w", err))
	}
	if s.RecordAcknowledged != recordAll && s.RecordAcknowledged != recordNone {
		errs = append(errs, fmt.Errorf("RECORD_ACKNOWLEDGED must be %s or %s", recordAll, recordNone))
	}
	return errors.Join(errs...)
}
