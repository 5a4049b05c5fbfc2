package deliver

import (
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/delivery"
)

func TestNew_namesTheSettingsThatCannotWork(t *testing.T) {
	for name, s := range map[string]Settings{
		"too small": {},
		"too large": {
			Minute: 9999, FunctionTimeout: 9999, ConnectTimeout: 9999, AttemptTimeout: 9999, EndpointConcurrency: 9999,
			MaximumConcurrency: 9999, AcknowledgedDays: 9999, MaxLifeDays: 9999, BatchWindow: 9999,
		},
	} {
		_, err := New(Config{Settings: s})
		for _, setting := range []string{
			"MINUTE_SECONDS must", "FUNCTION_TIMEOUT_SECONDS must", "CONNECT_TIMEOUT_SECONDS must",
			"ATTEMPT_TIMEOUT_SECONDS must", "ENDPOINT_CONCURRENCY must", "MAXIMUM_CONCURRENCY must",
			"ACKNOWLEDGED_DAYS must", "MAX_LIFE_DAYS must", "RETRY_BASE_SECONDS", "RECORD_ACKNOWLEDGED must",
			"COMPANION_HEADERS must",
		} {
			if err == nil || !strings.Contains(err.Error(), setting) {
				t.Errorf("%s: %s is not named: %v", name, setting, err)
			}
		}
	}
}

func TestNew_refusesSignaturesThatNoHeaderCarries(t *testing.T) {
	for companions, want := range map[delivery.Companions]bool{
		delivery.CompanionsNone: true, delivery.CompanionsWebhook: false, delivery.CompanionsSvix: false,
	} {
		_, err := New(Config{Settings: Settings{CompanionHeaders: companions, AsymmetricSignatures: true}})
		if got := strings.Contains(err.Error(), "ASYMMETRIC_SIGNATURES on needs COMPANION_HEADERS"); got != want {
			t.Errorf("%s: refused %v: %v", companions, got, err)
		}
	}
}

// A window makes a message wait although processes are free.
func TestSettings_rules_leaveOutTheBatchWindow(t *testing.T) {
	for window, want := range map[config.Seconds]time.Duration{0: time.Second, 5: 6 * time.Second} {
		if got := (Settings{MaximumConcurrency: 200, BatchWindow: window}).rules().Allowance.Late; got != want {
			t.Errorf("with a window of %d s a first attempt is late after %s, want %s", window, got, want)
		}
	}
	_, err := New(Config{Settings: Settings{BatchWindow: 301}})
	if err == nil || !strings.Contains(err.Error(), "BATCH_WINDOW_SECONDS must be 0 to 300") {
		t.Errorf("a window that Lambda has not: %v", err)
	}
}
