package deliver

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/testkit/wiring"
)

var environment = map[string]string{
	"STAGE": "test", "ENDPOINTS_TABLE": "Endpoints", "DELIVERIES_TABLE": "Deliveries", "SECRETS_KEY_ARN": "key",
	"RETRY_QUEUE_URL": "RetryQueue", "RETRY_QUEUE_ARN": "arn:RetryQueue",
	"RETRY_BASE_SECONDS": "7", "RETRY_FACTOR": "2.5", "MAX_RETRIES": "8",
	"CONNECT_TIMEOUT_SECONDS": "4", "ATTEMPT_TIMEOUT_SECONDS": "20",
	"ENDPOINT_CONCURRENCY": "5", "MAXIMUM_CONCURRENCY": "55",
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
	for name, part := range map[string]struct {
		call func() error
		want string
	}{
		"Endpoints": {
			func() error { _, err := h.Endpoints.BatchGet(t.Context(), keys); return err }, "BatchGetItem Endpoints",
		},
		"Secrets": {func() error {
			_, err := h.Secrets.Open(
				t.Context(), keyring.SecretID{TenantID: "t", EndpointID: "id", Version: 1}, []byte("sealed"),
			)
			return err
		}, "Decrypt key"},
		"States": {
			func() error { _, err := h.States.Update(t.Context(), delivery.Record{}); return err }, "PutItem Deliveries",
		},
		"RetryQueue": {
			func() error { return h.RetryQueue.Send(t.Context(), []queue.Outgoing{{Body: "{}"}})[0] },
			"SendMessageBatch RetryQueue",
		},
		"Visibility": {func() error {
			return h.Visibility.ChangeVisibility(t.Context(), []queue.VisibilityChange{{ReceiptHandle: "handle"}})[0]
		}, "ChangeMessageVisibilityBatch RetryQueue"},
		"Hanging": {
			func() error { return h.Hanging.Store.Mark(t.Context(), "id", "holder", h.Now()) }, "PutItem Deliveries",
		},
	} {
		if err := part.call(); err == nil {
			t.Errorf("%s: a refused call succeeds", name)
		}
		if diff := cmp.Diff([]string{part.want}, calls.Calls()); diff != "" {
			t.Errorf("calls of %s (-want +got):\n%s", name, diff)
		}
	}
}

// numbers are what New takes and derives from the settings.
type numbers struct {
	Schedule        retry.Schedule
	RetryQueueARN   string
	PerEndpoint     int
	Suspect, Window time.Duration
	Limit           int
	UserAgent       string
}

func TestNew_derivesItsNumbersFromTheSettings(t *testing.T) {
	h, err := New(Config{Settings: wiring.Settings[Settings](t, environment)})
	if err != nil {
		t.Fatal(err)
	}
	schedule := retry.Schedule{Base: 7 * time.Second, Factor: 2.5, MaxRetries: 8}
	want := numbers{
		Schedule: schedule, RetryQueueARN: "arn:RetryQueue", PerEndpoint: 5,
		Suspect: 2 * time.Second, Window: 80 * time.Second, Limit: 5, UserAgent: "Herald/dev",
	}
	got := numbers{
		Schedule: h.Schedule, RetryQueueARN: h.RetryQueueARN, PerEndpoint: h.PerEndpoint,
		Suspect: h.Hanging.Suspect, Window: h.Hanging.Window, Limit: h.Hanging.Limit, UserAgent: h.Attempts.UserAgent,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestNew_namesEachProcessAnew(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	first, second := newHanging(nil, s), newHanging(nil, s)
	if first.Holder == "" || first.Holder == second.Holder {
		t.Errorf("two processes are named %q and %q", first.Holder, second.Holder)
	}
}

func TestNew_namesTheVariablesAtFaultAndShowsNoValue(t *testing.T) {
	s := wiring.Settings[Settings](t, environment)
	s.RetryBase, s.MaxRetries, s.EgressAllowCIDRs, s.EgressAllowPorts = 0, 1000, "127.0.0.0/24,hush", "443,9000-10,65536"
	_, err := New(Config{Settings: s})
	want := strings.Join([]string{
		"reading the environment: RETRY_BASE_SECONDS, RETRY_FACTOR, MAX_RETRIES: retry base must be 1 to 43000 seconds",
		"max retries must be 1 to 18",
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
