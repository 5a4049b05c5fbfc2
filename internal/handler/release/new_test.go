package release

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/retry"
)

func TestNew_takesItsSettings(t *testing.T) {
	h, err := New(Config{Settings: Settings{
		Minute: 30, FunctionTimeout: 90, RetryBase: 7, RetryFactor: 3, MaxRetries: 8, LongWait: 100, MaxLifeDays: 5,
		MaximumConcurrency: 50, AttemptTimeout: 10, Notices: true,
	}})
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
	_, err := New(Config{})
	for _, name := range []string{"MINUTE_SECONDS", "MAX_RETRIES", "MAXIMUM_CONCURRENCY"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
}
