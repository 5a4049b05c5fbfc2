package config_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/config"
)

type settings struct {
	Table   string         `env:"TEST_TABLE,notEmpty"`
	Queue   string         `env:"TEST_QUEUE"`
	Timeout config.Seconds `env:"TEST_TIMEOUT"`
	Limit   int            `env:"TEST_LIMIT"`
}

func TestSettingsAreReadIntoTheirTypes(t *testing.T) {
	t.Setenv("TEST_TABLE", "Endpoints")
	t.Setenv("TEST_QUEUE", "")
	t.Setenv("TEST_TIMEOUT", "15")
	t.Setenv("TEST_LIMIT", "50")
	got, err := config.Load[settings]()
	if err != nil || got.Table != "Endpoints" || got.Queue != "" || got.Timeout.Duration() != 15*time.Second || got.Limit != 50 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEveryFaultIsNamedAtOnceAndNoValue(t *testing.T) {
	t.Setenv("TEST_TABLE", "")
	t.Setenv("TEST_TIMEOUT", "15s-hush")
	_, err := config.Load[settings]()
	if err == nil {
		t.Fatal("faulty settings are read")
	}
	for _, name := range []string{"TEST_TABLE", "TEST_QUEUE", `"TEST_TIMEOUT" is no int`, "TEST_LIMIT"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("a value is shown: %v", err)
	}
}

func TestAWSNeedsRegionAndCredentials(t *testing.T) {
	for missing := range map[string]bool{"AWS_REGION": true, "AWS_ACCESS_KEY_ID": true, "AWS_SECRET_ACCESS_KEY": true} {
		t.Run(missing, func(t *testing.T) {
			environment(t)
			t.Setenv(missing, "")
			if _, err := config.AWS(t.Context()); err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("without %s: %v", missing, err)
			}
		})
	}
}

// A throttled call is tried three times, with the role's session token and in its region.
func TestAWSCallsAreSignedAndTriedThreeTimes(t *testing.T) {
	var calls atomic.Int32
	var authorization, token atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		authorization.Store(r.Header.Get("Authorization"))
		token.Store(r.Header.Get("X-Amz-Security-Token"))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.Copy(w, bytes.NewBufferString(`{"__type":"ThrottlingException"}`))
	}))
	t.Cleanup(server.Close)
	environment(t)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	cfg, err := config.AWS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{}); err == nil {
		t.Error("a throttled call succeeds")
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls, want 3", calls.Load())
	}
	if got := authorization.Load().(string); !strings.Contains(got, "AKID/") || !strings.Contains(got, "/eu-central-1/sqs/") || token.Load() != "session" {
		t.Errorf("signed as %q with token %q", got, token.Load())
	}
}

func environment(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_SESSION_TOKEN": "session", "AWS_ENDPOINT_URL": "",
	} {
		t.Setenv(name, value)
	}
}
