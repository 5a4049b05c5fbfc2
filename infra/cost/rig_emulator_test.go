//go:build emulator

package cost

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// rig is one process of each function, on tables, queues and keys of its own. Its clock stands still
// unless the rig moves it.
type rig struct {
	t     *testing.T
	cfg   aws.Config // of the emulator, past the counters
	meter *testkit.Meter
	wire  *wire
	names testkit.TableNames
	now   time.Time
	took  time.Duration // what the clock moves by with every invocation
	batch int           // messages in an invocation, at most

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
	process     func(context.Context, []queue.Record) []string
	log         bytes.Buffer
	invocations int
	records     int
	receives    int // requests as SQS bills them
	deletes     int
}

// schedule is the template's default.
var schedule = struct{ base, factor, retries, long int }{5, 4, 9, 150}

func newRig(t *testing.T, batch int) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	r := &rig{
		t: t, cfg: cfg, meter: testkit.NewMeter(t, cfg), wire: newWire(t), names: testkit.Tables(t, cfg),
		now: time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC), took: 100 * time.Millisecond, batch: batch,
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

// telemetryOf is what a function writes, as in Lambda but for the gathering of lines.
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
	r.fanout, r.deliver, r.deadletter = &function{}, &function{}, &function{}

	fans := fanout.New(fanout.Config{
		Settings: fanout.Settings{
			EndpointsTable: r.names.Endpoints, DeliveryQueueURL: r.deliveryQ.URL, EventsDeadLetterQueueURL: "unused",
		},
		AWS: counted, Log: telemetry.NewLogger(&r.fanout.log), Metrics: r.metricsOf(&r.fanout.log, "fanout"),
	})
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
	var err error
	r.release, err = release.New(release.Config{
		Settings: release.Settings{
			EndpointsTable: r.names.Endpoints, DeliveriesTable: r.names.Deliveries, BacklogTable: r.names.Backlog,
			EndpointHealthTable: r.names.EndpointHealth, RetryQueueURL: r.retryQ.URL, DeadLetterQueueURL: r.deadQ.URL,
			Minute: 60,
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
		},
		AWS: counted, Log: telemetry.NewLogger(&r.deliver.log), Metrics: r.metricsOf(&r.deliver.log, "deliver"),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	h.Now, h.Random, h.Attempts.Now = r.clock, func() float64 { return 0 }, r.clock
	h.Attempts.Client = egress.New(egress.Config{RootCAs: ca.Pool(), Policy: egress.NewPolicy(
		[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, []egress.PortRange{{From: 1024, To: 65535}},
	)})
	return h
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

// fanOut hands over events as Lambda does that received them from EventsQueue.
func (r *rig) fanOut(events []sqstypes.Message) {
	r.t.Helper()
	for len(events) > 0 {
		n := min(len(events), r.batch)
		if failed := r.invoke(r.fanout, "arn:EventsQueue", events[:n]); len(failed) > 0 {
			r.t.Fatalf("fanout failed:\n%s", r.fanout.log.String())
		}
		events = events[n:]
	}
}

// invoke is one invocation, with what Lambda asks of SQS before and after it.
func (r *rig) invoke(f *function, queueARN string, messages []sqstypes.Message) (failed map[string]bool) {
	records := make([]queue.Record, len(messages))
	for i, m := range messages {
		records[i] = queue.Record{
			MessageID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, EventSourceARN: queueARN,
			Attributes: queue.System{
				ReceiveCount: m.Attributes["ApproximateReceiveCount"], SentAt: strconv.FormatInt(r.now.UnixMilli(), 10),
			},
			MessageAttributes: map[string]queue.Attribute{},
		}
		for name, a := range m.MessageAttributes {
			records[i].MessageAttributes[name] = queue.Attribute{StringValue: *a.StringValue, DataType: *a.DataType}
		}
	}
	identity := &lambdacontext.LambdaContext{AwsRequestID: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
	ctx, cancel := context.WithTimeout(lambdacontext.NewContext(r.t.Context(), identity), 30*time.Second)
	defer cancel()
	failed = map[string]bool{}
	for _, id := range f.process(ctx, records) {
		failed[id] = true
	}
	f.invocations++
	f.records += len(records)
	f.receives += receives(records)
	f.deletes += (len(records) - len(failed) + sqsBatch - 1) / sqsBatch
	r.now = r.now.Add(r.took)
	return failed
}

// pump hands over what is on the queue, batch after batch, and returns how many messages that were.
func (r *rig) pump(f *function, q testkit.Queue) (n int) {
	r.t.Helper()
	client := sqs.NewFromConfig(r.cfg)
	var all []sqstypes.Message
	for {
		got := testkit.Receive(r.t, r.cfg, q, 0)
		if all = append(all, got...); len(got) == 0 {
			break
		}
	}
	for from := 0; from < len(all); from += r.batch {
		part := all[from:min(from+r.batch, len(all))]
		failed := r.invoke(f, q.ARN, part)
		for _, m := range part {
			if failed[*m.MessageId] {
				continue
			}
			in := &sqs.DeleteMessageInput{QueueUrl: &q.URL, ReceiptHandle: m.ReceiptHandle}
			if _, err := client.DeleteMessage(r.t.Context(), in); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return len(all)
}

// live moves everything on until it is acknowledged or sealed.
func (r *rig) live() {
	r.t.Helper()
	for range 1000 {
		moved := r.pump(r.deliver, r.deliveryQ) + r.pump(r.deadletter, r.deadQ)
		r.now = r.now.Add(r.wire.waited())
		if moved += r.pump(r.deliver, r.retryQ); moved > 0 {
			continue
		}
		due, any := r.nextDue()
		if !any {
			return
		}
		if due.After(r.now) {
			r.now = due
		}
		r.tick()
	}
	r.t.Fatal("it does not end")
}

// nextDue is when the first item of Backlog is due.
func (r *rig) nextDue() (first time.Time, any bool) {
	for shard := range backlog.DueShards {
		due, _, err := r.waiting.Due(r.t.Context(), shard, r.now.Add(retry.MaxLife), 1, "")
		if err != nil {
			r.t.Fatal(err)
		}
		if len(due) > 0 && (!any || due[0].DueAt.Before(first)) {
			first, any = due[0].DueAt, true
		}
	}
	return first, any
}

func (r *rig) tick() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 50*time.Second)
	defer cancel()
	if err := r.release.Tick(ctx); err != nil {
		r.t.Fatalf("%v\n%s", err, r.ticks.String())
	}
}
