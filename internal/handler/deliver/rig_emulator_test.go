//go:build emulator

package deliver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
	"github.com/herald-webhooks/herald/internal/testkit/sqsevent"
)

const tenant = "acme"

// rig is fanout and deliver on real tables, queues and keys, with one endpoint.
type rig struct {
	t                   *testing.T
	cfg                 aws.Config      // of the emulator
	faults              *testkit.Faults // between the handlers and the emulator
	logs                bytes.Buffer    // of deliver, with its metrics
	limit               time.Duration   // of an invocation
	ca                  *receivers.CA
	endpoints           *dynamo.Endpoints
	states              *dynamo.Deliveries
	secrets             *keyring.Secrets
	deliveryQ, retryQ   testkit.Queue
	deadQ               testkit.Queue
	health              *dynamo.Health
	backlog             *dynamo.Backlog
	fanout              *fanout.Handler
	deliver             *deliver.Handler
	endpoint            endpoint.Endpoint
	secret              string
	nextEvent, revision int
	content             delivery.Content // of the event published last
}

func newRig(t *testing.T) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, faults := testkit.Tables(t, cfg), testkit.NewFaults(t, cfg)
	db, queues := dynamodb.NewFromConfig(faults.Config()), sqs.NewFromConfig(faults.Config())
	r := &rig{
		t: t, cfg: cfg, faults: faults, limit: 30 * time.Second, ca: receivers.NewCA(t),
		endpoints: dynamo.NewEndpoints(db, tables.Endpoints),
		states:    dynamo.NewDeliveries(db, tables.Deliveries),
		secrets:   keyring.NewSecrets(kms.NewFromConfig(faults.Config()), testkit.Key(t, cfg)),
		deliveryQ: testkit.NewQueue(t, cfg, "DeliveryQueue", testkit.QueueOptions{Visibility: time.Second}),
		retryQ:    testkit.NewQueue(t, cfg, "RetryQueue", testkit.QueueOptions{Visibility: time.Second}),
		deadQ:     testkit.NewQueue(t, cfg, "DeadLetterQueue", testkit.QueueOptions{Visibility: time.Second}),
		health:    dynamo.NewHealth(db, tables.EndpointHealth),
		backlog:   dynamo.NewBacklog(db, tables.Backlog),
	}
	schedule := retry.Schedule{Base: time.Second, Factor: 1, MaxRetries: 5, Long: 3 * time.Second}
	r.fanout = &fanout.Handler{
		Subscriptions: r.endpoints,
		Deliveries:    queue.Sender{Client: queues, URL: r.deliveryQ.URL},
		Rejected:      queue.Sender{Client: queues, URL: "unused"},
		Log:           slog.New(slog.DiscardHandler),
		Metrics:       telemetry.NewMetrics(io.Discard, "test", "fanout", time.Now),
		Now:           time.Now,
	}
	r.deliver = &deliver.Handler{
		Endpoints: dynamo.NewReader(dynamo.ReaderConfig{
			Client: db, Endpoints: tables.Endpoints, EndpointHealth: tables.EndpointHealth,
		}),
		Secrets: r.secrets, States: r.states, Health: r.health, Backlog: r.backlog, RetryQueueARN: r.retryQ.ARN,
		DeadLetterQueue: queue.Sender{Client: queues, URL: r.deadQ.URL}, Thresholds: health.Default(),
		Slow: &deliver.SlowLane{
			Notes: r.health, Settings: health.SlowSettings{Self: rand.Text(), Limit: 2, Wait: time.Minute, Longest: time.Hour},
			Suspect: 500 * time.Millisecond, Timeout: 5 * time.Second,
		},
		RetryQueue: queue.Sender{Client: queues, URL: r.retryQ.URL}, Visibility: queue.Visibility{
			Client: queues, URL: r.retryQ.URL,
		},
		Schedule: schedule, PerEndpoint: 10, Now: time.Now,
		Log: slog.New(slog.NewJSONHandler(&r.logs, nil)), Metrics: telemetry.NewMetrics(&r.logs, "test", "deliver", time.Now),
		Random: func() float64 { return 0 },
		Attempts: delivery.Sender{UserAgent: "Herald/test", Now: time.Now, Client: egress.New(egress.Config{
			RootCAs: r.ca.Pool(), ConnectTimeout: 5 * time.Second, AttemptTimeout: 5 * time.Second,
			Policy: egress.NewPolicy(
				[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, []egress.PortRange{{From: 1024, To: 65535}},
			),
		})},
	}
	return r
}

// create stores an active endpoint for url.
func (r *rig) create(url string, wants ...string) {
	r.t.Helper()
	r.secret = "whs_first"
	e := endpoint.Endpoint{
		ID: "webhook_1", TenantID: tenant, URL: url, Events: wants, Status: endpoint.Active, CreatedAt: time.Now(),
		UpdatedAt: time.Now(), SecretVersion: 1, Revision: "0",
	}
	e.SealedSecret = r.seal(e, r.secret)
	if err := r.endpoints.Create(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
	r.endpoint = e
}

func (r *rig) seal(e endpoint.Endpoint, secret string) []byte {
	r.t.Helper()
	sealed, err := r.secrets.Seal(
		r.t.Context(), keyring.SecretID{TenantID: tenant, EndpointID: e.ID, Version: e.SecretVersion}, secret,
	)
	if err != nil {
		r.t.Fatal(err)
	}
	return sealed
}

// change stores the endpoint as changed, like the management API does.
func (r *rig) change(change func(*endpoint.Endpoint)) {
	r.t.Helper()
	now := r.endpoint
	change(&now)
	r.revision++
	now.Revision = strings.Repeat("r", r.revision)
	if err := r.endpoints.Replace(r.t.Context(), r.endpoint, now); err != nil {
		r.t.Fatal(err)
	}
	r.endpoint = now
}

// publish fans out one event.
func (r *rig) publish(eventType string) {
	r.t.Helper()
	r.nextEvent++
	body := fmt.Sprintf(`{"id":"evt_%s","tenant_id":%q,"type":%q,"data":{"userId":"user_1"}}`,
		strings.Repeat("x", r.nextEvent), tenant, eventType)
	r.content = delivery.ContentOf(fmt.Appendf(nil, `{"type":%q,"data":{"userId":"user_1"}}`, eventType))
	if failed := r.fanout.Process(r.t.Context(), []events.SQSMessage{{MessageId: "m", Body: body}}); len(failed) != 0 {
		r.t.Fatalf("fan-out failed %v", failed)
	}
}

// pump takes one batch off the queue through deliver, as a mapping does, and returns its size.
func (r *rig) pump(q testkit.Queue, wait time.Duration) int {
	r.t.Helper()
	received := testkit.Receive(r.t, r.cfg, q, wait)
	var records []events.SQSMessage
	for _, m := range received {
		records = append(records, sqsevent.Of(m, q.ARN))
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), r.limit)
	defer cancel()
	failed := map[string]bool{}
	for _, id := range r.deliver.Process(ctx, records) {
		failed[id] = true
	}
	for _, m := range received {
		if !failed[*m.MessageId] {
			in := &sqs.DeleteMessageInput{QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle}
			if _, err := sqs.NewFromConfig(r.cfg).DeleteMessage(r.t.Context(), in); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return len(received)
}

// retryWaits publishes one event to a receiver that fails, so that its retry waits.
func (r *rig) retryWaits(to *receivers.Receiver) {
	r.t.Helper()
	r.create(to.URL, "user.*")
	r.publish("user.updated")
	if r.pump(r.deliveryQ, time.Second) != 1 || len(to.Requests()) != 1 {
		r.t.Fatalf("%d requests, want the first attempt", len(to.Requests()))
	}
}

func (r *rig) stateOf() delivery.Record {
	r.t.Helper()
	state, found, err := r.states.Get(
		r.t.Context(), delivery.ID(tenant, "evt_"+strings.Repeat("x", r.nextEvent), "webhook_1", r.content),
	)
	if err != nil || !found {
		r.t.Fatalf("state: %v, %v", found, err)
	}
	return state
}

// waiting returns what waits in Backlog for the endpoint.
func (r *rig) waiting() (items []backlog.Item) {
	r.t.Helper()
	for shard := range backlog.Shards {
		page, err := r.backlog.ReadShard(r.t.Context(), r.endpoint.ID, shard, "", 100)
		if err != nil || len(page.Unreadable) != 0 {
			r.t.Fatalf("%d unreadable, %v", len(page.Unreadable), err)
		}
		items = append(items, page.Items...)
	}
	return items
}

// release sends on what waits in Backlog, as the function of that name does: at once.
func (r *rig) release() int {
	r.t.Helper()
	items := r.waiting()
	sender := queue.Sender{Client: sqs.NewFromConfig(r.cfg), URL: r.retryQ.URL}
	for _, item := range items {
		if err := sender.Send(r.t.Context(), []queue.Outgoing{queue.ToRetryQueue(item.Message, 0)})[0]; err != nil {
			r.t.Fatal(err)
		}
		if err := r.backlog.Delete(r.t.Context(), []backlog.Key{item.Key})[0]; err != nil {
			r.t.Fatal(err)
		}
	}
	return len(items)
}

// itemOf is what is stored of the endpoint's health.
func (r *rig) itemOf() health.Item {
	r.t.Helper()
	items, _, err := r.health.Trouble(r.t.Context(), 0, "")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, i := range items {
		if i.EndpointID == r.endpoint.ID {
			return i
		}
	}
	return health.Item{}
}
