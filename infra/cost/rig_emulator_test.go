//go:build emulator

package cost

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/infra/pipeline"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// rig is the pipeline, on tables and keys of its own. Its clock stands still unless the rig moves it.
type rig struct {
	traffic
	t         *testing.T
	cfg       aws.Config // of the emulator, past the counters
	meter     *testkit.Meter
	resources map[string]string
	now       time.Time
	queues    queues
	receiver  receiver
	functions pipeline.Functions
	output    bytes.Buffer
	published int
	lambda    usage // of Lambda, for the functions
}

func newRig(t *testing.T, c traffic) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	r := &rig{
		traffic: c, t: t, cfg: cfg, meter: testkit.NewMeter(t, cfg), resources: pipeline.Resources(t, cfg),
		now: time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC), queues: queues{waiting: map[string][]message{}},
		receiver: receiver{seen: map[string]int{}},
	}
	counted := r.queues.config(r.meter.Config())
	r.functions = pipeline.New(t, pipeline.Options{
		Root: "../..", Resources: r.resources, Receivers: &r.receiver, AWS: func(string) aws.Config { return counted },
		Parameters: map[string]string{
			"Stage": "prod", "SuccessLogSample": cmp.Or(c.sample, "0"), "RecordAcknowledged": cmp.Or(c.record, "all"),
			"Notices": cmp.Or(c.notices, "off"),
		},
		Now: func() time.Time { return r.now }, Output: func(string) io.Writer { return &r.output },
	})
	return r
}

// consumers are the functions behind the queues.
func (r *rig) consumer(queue string) (name string, process func(context.Context, []message) []string) {
	switch queue {
	case "EventsQueue":
		return "fanout", r.functions.Fanout
	case "DeadLetterQueue":
		return "deadletter", r.functions.Deadletter
	}
	return "deliver", r.functions.Deliver
}

func tenantID(n int) string { return fmt.Sprintf("tenant_01JD00000000000000%06d", n) }

// subscribe gives the tenant an endpoint.
func (r *rig) subscribe(tenant, n int) {
	e := endpoint.Endpoint{
		ID: fmt.Sprintf("webhook_01JD%06d0000000000%06d", tenant, n), TenantID: tenantID(tenant),
		URL: "https://receiver.example.com/hook", Description: "Synchronises accounts",
		Events: []string{"user.*", "organization.*"}, CreatedAt: r.now, UpdatedAt: r.now, SecretRotatedAt: r.now,
	}
	if r.headers {
		header := endpoint.Header{Name: "Authorization", Value: "Bearer 0123456"}
		e.HeaderNames, e.HeadersVersion = []string{header.Name}, 1
		id := keyring.SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: 1, Headers: true}
		secrets := keyring.NewSecrets(kms.NewFromConfig(r.cfg), r.resources["SecretsKey.Arn"])
		e.SealedHeaders = must(secrets.Seal(r.t.Context(), id, endpoint.EncodeHeaders([]endpoint.Header{header})))
	}
	pipeline.Subscribe(r.t, r.cfg, r.resources, e)
}
