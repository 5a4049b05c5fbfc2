package deliver

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

var environment = map[string]string{
	"STAGE": "test", "ENDPOINTS_TABLE": "Endpoints", "DELIVERIES_TABLE": "Deliveries",
	"ENDPOINT_HEALTH_TABLE": "EndpointHealth", "BACKLOG_TABLE": "Backlog", "SECRETS_KEY_ARN": "key",
	"RETRY_QUEUE_URL": "RetryQueue", "RETRY_QUEUE_ARN": "arn:RetryQueue", "DEAD_LETTER_QUEUE_URL": "DeadLetterQueue",
	"LONG_WAIT_SECONDS": "90", "MINUTE_SECONDS": "30",
	"RETRY_BASE_SECONDS": "7", "RETRY_FACTOR": "2.5", "MAX_RETRIES": "8",
	"CONNECT_TIMEOUT_SECONDS": "4", "ATTEMPT_TIMEOUT_SECONDS": "20",
	"ENDPOINT_CONCURRENCY": "5", "MAXIMUM_CONCURRENCY": "55",
	"RECORD_ACKNOWLEDGED": "none", "ACKNOWLEDGED_DAYS": "3", "SUCCESS_LOG_SAMPLE": "2.5",
	"EGRESS_ALLOW_CIDRS": "", "EGRESS_ALLOW_PORTS": "",
}

func TestNew_connectsEachPartWithItsOwnResource(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	var calls wiring.AWS
	h, err := New(Config{Settings: s, AWS: calls.Config(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	keys := []dynamo.EndpointKey{{TenantID: "t", EndpointID: "id"}}
	calls.Check(t, func() error {
		_, err := h.Endpoints.Read(t.Context(), keys)
		return err
	}, "BatchGetItem EndpointHealth", "BatchGetItem Endpoints")
	calls.Check(t, func() error {
		_, err := h.Secrets.Open(
			t.Context(), keyring.SecretID{TenantID: "t", EndpointID: "id", Version: 1}, []byte("sealed"),
		)
		return err
	}, "Decrypt key")
	calls.Check(t, func() error {
		_, err := h.States.Update(t.Context(), delivery.Record{})
		return err
	}, "PutItem Deliveries")
	calls.Check(t, func() error {
		return h.RetryQueue.Send(t.Context(), []queue.Outgoing{{Body: "{}"}})[0]
	}, "SendMessageBatch RetryQueue")
	calls.Check(t, func() error {
		return h.Visibility.ChangeVisibility(t.Context(), []queue.VisibilityChange{{ReceiptHandle: "handle"}})[0]
	}, "ChangeMessageVisibilityBatch RetryQueue")
	calls.Check(t, func() error {
		return h.DeadLetterQueue.Send(t.Context(), []queue.Outgoing{{Body: "{}"}})[0]
	}, "SendMessageBatch DeadLetterQueue")
	calls.Check(t, func() error {
		_, _, err := h.Health.Apply(t.Context(), health.Write{Kind: health.ClearFailing})
		return err
	}, "DeleteItem EndpointHealth")
	calls.Check(t, func() error { return h.Backlog.Put(t.Context(), []backlog.Item{{}})[0] }, "BatchWriteItem Backlog")
	calls.Check(t, func() error { return h.Slow.Notes.PutNote(t.Context(), health.Note{}) }, "PutItem EndpointHealth")
}

// numbers are what New takes and derives from the settings.
type numbers struct {
	Schedule      retry.Schedule
	RetryQueueARN string
	PerEndpoint   int
	Suspect       time.Duration
	Timeout       time.Duration
	Wait, Longest time.Duration
	Apart         time.Duration
	Limit         int
	Thresholds    health.Settings
	UserAgent     string
	Unrecorded    bool
	Sample        telemetry.Sample
}

func TestNew_derivesItsNumbersFromTheSettings(t *testing.T) {
	h, err := New(Config{Settings: wiring.Settings[Settings](t, environment)})
	if err != nil {
		t.Fatal(err)
	}
	schedule := retry.Schedule{Base: 7 * time.Second, Factor: 2.5, MaxRetries: 8, Long: 90 * time.Second}
	want := numbers{
		Schedule: schedule, RetryQueueARN: "arn:RetryQueue", PerEndpoint: 5,
		Suspect: 2 * time.Second, Timeout: 20 * time.Second, Wait: 30 * time.Second, Limit: 5,
		Longest: 30 * time.Minute, Apart: 13333333333,
		Thresholds: health.Default().Scaled(30 * time.Second), UserAgent: "Herald/dev", Unrecorded: true, Sample: 2.5,
	}
	got := numbers{
		Schedule: h.Schedule, RetryQueueARN: h.RetryQueueARN, PerEndpoint: h.PerEndpoint,
		Suspect: h.Slow.Suspect, Timeout: h.Slow.Timeout, Wait: h.Slow.Settings.Wait, Limit: h.Slow.Settings.Limit,
		Longest: h.Slow.Settings.Longest, Apart: h.Slow.Settings.Apart,
		Thresholds: h.Thresholds, UserAgent: h.Attempts.UserAgent, Unrecorded: h.Unrecorded, Sample: h.Sample,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestNew_namesEachProcessAnew(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	first, second := newSlowLane(nil, s).Settings.Self, newSlowLane(nil, s).Settings.Self
	if first == "" || first == second {
		t.Errorf("two processes are named %q and %q", first, second)
	}
}

func TestNew_namesTheVariablesAtFaultAndShowsNoValue(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	s.Minute = -1
	s.RetryBase, s.MaxRetries, s.EgressAllowCIDRs, s.EgressAllowPorts = 0, 1000, "127.0.0.0/24,hush", "443,9000-10,65536"
	_, err := New(Config{Settings: s})
	want := strings.Join([]string{
		"reading the environment: RETRY_BASE_SECONDS, RETRY_FACTOR, MAX_RETRIES, LONG_WAIT_SECONDS: " +
			"retry base must be 1 to 43000 seconds",
		"max retries must be 1 to 18",
		"MINUTE_SECONDS: tick and probe must be positive, the probe's limit at least the probe",
		"the function's timeout must be positive, the age of a view not negative",
		"EGRESS_ALLOW_CIDRS: entry 1 reaches loopback or link-local addresses, allowed in the local stage only",
		"EGRESS_ALLOW_CIDRS: entry 2 is not a CIDR prefix",
		"EGRESS_ALLOW_PORTS: entry 2 is not a port or a range of ports",
		"EGRESS_ALLOW_PORTS: entry 3 is not a port or a range of ports",
	}, "\n")
	if err == nil {
		t.Fatal("faulty settings are taken")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
