package deliver

import (
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
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

func TestNewSpan_isAnotherEachTimeAndNeverZero(t *testing.T) {
	seen := map[trace.SpanID]bool{{}: true}
	for range 1000 {
		id := newSpan()
		if seen[id] {
			t.Fatalf("%s came before, or stands for none", id)
		}
		seen[id] = true
	}
}

// Threat of a publisher: tells receivers what else happened in a trace. Held by: off by default; the parent id is
// random.
func TestNew_forwardsTracesOnlyWhereTheParameterSaysSo(t *testing.T) {
	for _, on := range []config.Switch{true, false} {
		if got := made(t, on).Sender.NewSpan != nil; got != bool(on) {
			t.Errorf("forwards: %v, want %v", got, on)
		}
	}
}

// made is a handler of settings that can work.
func made(t *testing.T, forwardTrace config.Switch) *Handler {
	t.Helper()
	h, err := New(Config{Settings: Settings{
		Minute: 60, FunctionTimeout: 30, ConnectTimeout: 5, AttemptTimeout: 15, EndpointConcurrency: 10,
		MaximumConcurrency: 200, AcknowledgedDays: 1, MaxLifeDays: 7, RetryBase: 5, RetryFactor: 4, MaxRetries: 9,
		LongWait: 300, CompanionHeaders: "webhook", RecordAcknowledged: recordAll, ForwardTrace: forwardTrace,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestNew_tellsReceiversTheVersion(t *testing.T) {
	before := config.Version
	config.Version = "9.8.7"
	t.Cleanup(func() { config.Version = before })
	if got := made(t, false).Sender.UserAgent; got != "Herald/9.8.7" {
		t.Errorf("deliveries come from %q", got)
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
