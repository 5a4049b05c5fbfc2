//go:build emulator

package cost

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// rig is one process of each function, on tables, queues and keys of its own. Its clock stands still
// unless the rig moves it.
type rig struct {
	options
	t     *testing.T
	cfg   aws.Config // of the emulator, past the counters
	meter *testkit.Meter
	wire  *wire
	names testkit.TableNames
	now   time.Time
	took  time.Duration // what the clock moves by with every invocation
	alone bool          // retries and dead letters come one by one
	runs  int           // of release

	before usage // the traffic

	deliveryQ, retryQ, deadQ testkit.Queue
	fanout                   *function
	deliver                  *function
	deadletter               *function
	release                  *release.Handler
	ticks                    bytes.Buffer // log of release
	endpoints                *dynamo.Endpoints
	waiting                  *dynamo.Backlog
	secrets                  *keyring.Secrets
	receiver                 *receivers.Receiver
	published                int
}

// function is one behind queues, and what Lambda did for it.
type function struct {
	worker
	process     func(context.Context, []queue.Record) []string
	log         bytes.Buffer
	invocations int
	requests    int // of Lambda to SQS, as it bills them
	billed      float64
}

// options are settings that are not the template's defaults.
type options struct {
	batch  int
	sample telemetry.Sample // 0: no success has a line of its own
	record string           // "": all
}

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	r := &rig{
		t: t, cfg: cfg, meter: testkit.NewMeter(t, cfg), wire: newWire(t), names: testkit.Tables(t, cfg),
		now: time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC), took: 200 * time.Millisecond, options: o,
	}
	r.deliveryQ = testkit.NewQueue(t, cfg, "DeliveryQueue", testkit.QueueOptions{})
	r.retryQ = testkit.NewQueue(t, cfg, "RetryQueue", testkit.QueueOptions{MaxReceive: 100})
	r.deadQ = testkit.NewQueue(t, cfg, "DeadLetterQueue", testkit.QueueOptions{})
	db := dynamodb.NewFromConfig(cfg)
	r.endpoints, r.waiting = dynamo.NewEndpoints(db, r.names.Endpoints), dynamo.NewBacklog(db, r.names.Backlog)
	r.build(testkit.Key(t, cfg), testkit.Key(t, cfg))
	return r
}

func (r *rig) clock() time.Time { return r.now }

func (r *rig) metricsOf(out *bytes.Buffer, function string) *telemetry.Metrics {
	return telemetry.NewMetrics(out, "prod", function, r.clock)
}

// build makes the handlers as their functions do.
func (r *rig) build(secretsKey, deadLetterKey string) {
	counted := r.meter.Config()
	counted.HTTPClient = r.wire
	r.secrets = keyring.NewSecrets(kms.NewFromConfig(r.cfg), secretsKey)
	ca := receivers.NewCA(r.t)
	r.receiver = receivers.New(r.t, ca, (&failures{seen: map[string]int{}}).answer)
	r.fanout, r.deliver = &function{worker: workers["fanout"]}, &function{worker: workers["deliver"]}
	r.deadletter = &function{worker: workers["deadletter"]}

	fans, err := fanout.New(fanout.Config{
		Settings: fanout.Settings{
			EndpointsTable: r.names.Endpoints, DeliveryQueueURL: r.deliveryQ.URL, EventsDeadLetterQueueURL: "unused",
			SuccessLogSample: r.sample,
		},
		AWS: counted, Log: telemetry.NewLogger(&r.fanout.log), Metrics: r.metricsOf(&r.fanout.log, "fanout"),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	fans.Now = r.clock
	r.fanout.process = fans.Process
	r.deliver.process = r.delivers(counted, secretsKey, ca).Process
	dead := deadletter.New(deadletter.Config{
		Settings: deadletter.Settings{
			DeadLettersTable: r.names.DeadLetters, DeliveriesTable: r.names.Deliveries,
			DeadLetterKeyARN: deadLetterKey, MaxRetries: schedule.retries,
		},
		AWS: counted, Log: telemetry.NewLogger(&r.deadletter.log), Metrics: r.metricsOf(&r.deadletter.log, "deadletter"),
	})
	dead.Now = r.clock
	r.deadletter.process = dead.Process
	r.release, err = release.New(release.Config{
		Settings: release.Settings{
			EndpointsTable: r.names.Endpoints, DeliveriesTable: r.names.Deliveries, BacklogTable: r.names.Backlog,
			EndpointHealthTable: r.names.EndpointHealth, RetryQueueURL: r.retryQ.URL, DeadLetterQueueURL: r.deadQ.URL,
			Minute: 60, FunctionTimeout: 30,
		},
		AWS: counted, Log: telemetry.NewLogger(&r.ticks), Metrics: r.metricsOf(&r.ticks, "release"),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.release.Now = r.clock
}

func (r *rig) delivers(counted aws.Config, secretsKey string, ca *receivers.CA) *deliver.Handler {
	h, err := deliver.New(deliver.Config{
		Settings: deliver.Settings{
			Stage: "prod", EndpointsTable: r.names.Endpoints, EndpointHealthTable: r.names.EndpointHealth,
			DeliveriesTable: r.names.Deliveries, BacklogTable: r.names.Backlog, SecretsKeyARN: secretsKey,
			RetryQueueURL: r.retryQ.URL, RetryQueueARN: r.retryQ.ARN, DeadLetterQueueURL: r.deadQ.URL,
			RetryBase: config.Seconds(schedule.base), RetryFactor: float64(schedule.factor),
			MaxRetries: schedule.retries, LongWait: config.Seconds(schedule.long), Minute: 60,
			ConnectTimeout: 5, AttemptTimeout: 15, EndpointConcurrency: 10, MaximumConcurrency: 50,
			RecordAcknowledged: cmp.Or(r.record, "all"), AcknowledgedDays: 7, SuccessLogSample: r.sample,
		},
		AWS: counted, Log: telemetry.NewLogger(&r.deliver.log), Metrics: r.metricsOf(&r.deliver.log, "deliver"),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	h.Now, h.Random, h.Attempts.Now = r.clock, func() float64 { return 0 }, r.clock
	h.Attempts.Client = steady{egress.New(egress.Config{RootCAs: ca.Pool(), Policy: egress.NewPolicy(
		[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, []egress.PortRange{{From: 1024, To: 65535}},
	)})}
	return h
}

// steady is a client whose POSTs all take the same time, so that log lines are as long in every run.
type steady struct{ delivery.Poster }

func (s steady) Post(ctx context.Context, r delivery.Request) delivery.Response {
	out := s.Poster.Post(ctx, r)
	out.Elapsed = 80_123 * time.Microsecond
	return out
}

// failures answers 503 to the first attempts of a delivery, as many as its body says.
type failures struct {
	mu   sync.Mutex
	seen map[string]int // attempts by wh-id
}

const failTimes = `"fail":`

func (f *failures) answer(w http.ResponseWriter, r receivers.Request) {
	_, text, _ := strings.Cut(string(r.Body), failTimes)
	digits, _, _ := strings.Cut(text, ",")
	times, err := strconv.Atoi(digits)
	if err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.Header.Get("Wh-Id")
	if f.seen[id]++; f.seen[id] <= times {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func tenantID(n int) string { return fmt.Sprintf("tenant_01JD00000000000000%06d", n) }

// subscribe gives the tenant an endpoint.
func (r *rig) subscribe(tenant, n int) {
	r.t.Helper()
	e := endpoint.Endpoint{
		ID: fmt.Sprintf("webhook_01JD%06d0000000000%06d", tenant, n), TenantID: tenantID(tenant), URL: r.receiver.URL,
		Description: "Synchronises accounts", Events: []string{"user.*", "organization.*"}, Status: endpoint.Active,
		CreatedAt: r.now, UpdatedAt: r.now, SecretVersion: 1, SecretRotatedAt: r.now, Revision: "0",
	}
	var err error
	id := keyring.SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: 1}
	e.SealedSecret, err = r.secrets.Seal(r.t.Context(), id, "whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwABCDEFGHIJK")
	if err == nil {
		err = r.endpoints.Create(r.t.Context(), e)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// bodySize is that of what is POSTed.
const bodySize = 500

// event is one as it is published, of a delivery that fails so often.
func (r *rig) event(tenant, failing int) sqstypes.Message {
	r.published++
	const note = `,"note":"`
	payload := fmt.Sprintf(`"type":"user.updated","data":{"userId":"user_2c9WZ1",%s%d%s`, failTimes, failing, note)
	fill := bodySize - len(`{`) - len(payload) - len(`"}}`)
	body := fmt.Sprintf(`{"id":"evt_01JD00000000000000%06d","tenant_id":"%s","occurred_at":"%s",%s%s"}}`,
		r.published, tenantID(tenant), r.now.Format(time.RFC3339), payload, strings.Repeat("x", fill))
	return sqstypes.Message{
		MessageId: aws.String(fmt.Sprintf("059f36b4-87a3-44ab-83d2-%012d", r.published)), ReceiptHandle: aws.String("unused"),
		Body: &body, Attributes: map[string]string{"ApproximateReceiveCount": "1"},
	}
}
