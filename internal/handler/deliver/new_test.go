package deliver

import (
	"strings"
	"testing"
)

func TestNew_namesTheSettingsThatCannotWork(t *testing.T) {
	for name, s := range map[string]Settings{
		"too small": {},
		"too large": {
			Minute: 9999, FunctionTimeout: 9999, ConnectTimeout: 9999, AttemptTimeout: 9999, EndpointConcurrency: 9999,
			MaximumConcurrency: 9999, AcknowledgedDays: 9999, MaxLifeDays: 9999,
		},
	} {
		_, err := New(Config{Settings: s})
		for _, setting := range []string{
			"MINUTE_SECONDS must", "FUNCTION_TIMEOUT_SECONDS must", "CONNECT_TIMEOUT_SECONDS must",
			"ATTEMPT_TIMEOUT_SECONDS must", "ENDPOINT_CONCURRENCY must", "MAXIMUM_CONCURRENCY must",
			"ACKNOWLEDGED_DAYS must", "MAX_LIFE_DAYS must", "RETRY_BASE_SECONDS", "RECORD_ACKNOWLEDGED must",
		} {
			if err == nil || !strings.Contains(err.Error(), setting) {
				t.Errorf("%s: %s is not named: %v", name, setting, err)
			}
		}
	}
}
