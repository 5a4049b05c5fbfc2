package release

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

var valid = Settings{
	Minute: 30, FunctionTimeout: 90, RetryBase: 7, RetryFactor: 3, MaxRetries: 8, LongWait: 100, MaxLifeDays: 5,
	MaximumConcurrency: 50, AttemptTimeout: 10, Notices: true,
}

func TestNew_takesItsSettings(t *testing.T) {
	h, err := New(Config{Settings: valid})
	if err != nil {
		t.Fatal(err)
	}
	settings := circuit.New(30*time.Second, 90*time.Second)
	settings.Notices = true
	want := []any{
		settings, allowance.New(50, 10*time.Second), retry.Schedule{
			Base: 7 * time.Second, Factor: 3, MaxRetries: 8, Long: 100 * time.Second, MaxLife: 5 * 24 * time.Hour,
		},
	}
	if diff := cmp.Diff(want, []any{h.Settings, h.Allowance, h.Schedule}); diff != "" {
		t.Errorf("settings (-want +got)\n%s", diff)
	}
}

func TestNew_namesTheSettingsThatCannotWork(t *testing.T) {
	for name, breaks := range map[string]func(s *Settings){
		"MINUTE_SECONDS":           func(s *Settings) { s.Minute = 0 },
		"FUNCTION_TIMEOUT_SECONDS": func(s *Settings) { s.FunctionTimeout = 0 },
		"MAX_RETRIES":              func(s *Settings) { s.MaxRetries = 0 },
		"MAXIMUM_CONCURRENCY":      func(s *Settings) { s.MaximumConcurrency = 0 },
		"ATTEMPT_TIMEOUT_SECONDS":  func(s *Settings) { s.AttemptTimeout = 0 },
	} {
		s := valid
		breaks(&s)
		if _, err := New(Config{Settings: s}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// office has jobs or not, and notes who is woken for them.
type office struct {
	running bool
	fault   error
	woken   []string
}

func (o *office) Running(context.Context) (bool, error) { return o.running, nil }

func (o *office) Invoke(
	_ context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	o.woken = append(o.woken, aws.ToString(in.FunctionName)+" "+string(in.InvocationType)+" "+string(in.Payload))
	return nil, o.fault
}

func TestWakeReplay_invokesReplayWhileAJobIsRunning(t *testing.T) {
	o := &office{}
	wake := wakeReplay(o, o, "replay")
	if err := wake(t.Context()); err != nil || o.woken != nil {
		t.Errorf("without a job: %v, %v", o.woken, err)
	}
	o.running = true
	err := wake(t.Context())
	request, encodeErr := api.WorkJobs.Encode("release", struct{}{})
	if encodeErr != nil {
		t.Fatal(encodeErr)
	}
	want := []string{"replay Event " + string(request)}
	if diff := cmp.Diff(want, o.woken); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	o.fault = errors.New("ThrottlingException")
	if err := wake(t.Context()); !errors.Is(err, o.fault) {
		t.Errorf("a fault answers %v", err)
	}
}
