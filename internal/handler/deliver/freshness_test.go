//go:build emulator

package deliver_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/egress"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/queue"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/signature"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

const tenant = "acme"

// rig is fanout and deliver on real tables, queues and keys, with one endpoint.
type rig struct {
	t                   *testing.T
	cfg                 aws.Config
	ca                  *receivers.CA
	endpoints           *dynamo.Endpoints
	states              *dynamo.Deliveries
	secrets             *keyring.Secrets
	deliveryQ, retryQ   testkit.Queue
	fanout              *fanout.Handler
	deliver             *deliver.Handler
	endpoint            endpoint.Endpoint
	secret              string
	nextEvent, revision int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	tables := testkit.Tables(t, cfg)
	db, queues := dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg)
	r := &rig{
		t: t, cfg: cfg, ca: receivers.NewCA(t), endpoints: dynamo.NewEndpoints(db, tables.Endpoints), states: dynamo.NewDeliveries(db, tables.Deliveries),
		secrets:   keyring.NewSecrets(kms.NewFromConfig(cfg), testkit.Key(t, cfg)),
		deliveryQ: testkit.NewQueue(t, cfg, "DeliveryQueue", testkit.QueueOptions{}),
		retryQ:    testkit.NewQueue(t, cfg, "RetryQueue", testkit.QueueOptions{Visibility: time.Second}),
	}
	log := slog.New(slog.DiscardHandler)
	schedule := retry.Schedule{Base: time.Second, Factor: 1, MaxRetries: 5}
	r.fanout = &fanout.Handler{
		Subscriptions: r.endpoints, Deliveries: queue.Sender{Client: queues, URL: r.deliveryQ.URL}, Rejected: queue.Sender{Client: queues, URL: "unused"},
		Log: log, Metrics: telemetry.NewMetrics(io.Discard, "fanout", time.Now), Now: time.Now,
	}
	r.deliver = &deliver.Handler{
		Endpoints: r.endpoints, Secrets: r.secrets, States: r.states, RetryQueueARN: r.retryQ.ARN,
		RetryQueue: queue.Sender{Client: queues, URL: r.retryQ.URL}, Parking: queue.Parker{Client: queues, URL: r.retryQ.URL},
		Schedule: schedule, PerEndpoint: 10, Log: log, Metrics: telemetry.NewMetrics(io.Discard, "deliver", time.Now), Now: time.Now,
		Random: func() float64 { return 0 },
		Attempts: delivery.Sender{Schedule: schedule, UserAgent: "Herald/test", Now: time.Now, Client: egress.New(egress.Config{
			RootCAs: r.ca.Pool(), ConnectTimeout: 5 * time.Second, AttemptTimeout: 5 * time.Second,
			Policy: egress.NewPolicy([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, []egress.PortRange{{From: 1024, To: 65535}}),
		})},
	}
	return r
}

// create stores an active endpoint for url.
func (r *rig) create(url string, wants ...string) {
	r.t.Helper()
	r.secret = "whs_first"
	e := endpoint.Endpoint{ID: "webhook_1", TenantID: tenant, URL: url, Events: wants, Status: endpoint.Active, CreatedAt: time.Now(), UpdatedAt: time.Now(), SecretVersion: 1, Revision: "0"}
	e.SealedSecret = r.seal(e, r.secret)
	if err := r.endpoints.Create(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
	r.endpoint = e
}

func (r *rig) seal(e endpoint.Endpoint, secret string) []byte {
	r.t.Helper()
	sealed, err := r.secrets.Seal(r.t.Context(), keyring.SecretID{TenantID: tenant, EndpointID: e.ID, Version: e.SecretVersion}, secret)
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
	body := `{"id":"evt_` + strings.Repeat("x", r.nextEvent) + `","tenant_id":"` + tenant + `","type":"` + eventType + `","data":{"userId":"user_1"}}`
	if failed := r.fanout.Process(r.t.Context(), []queue.Record{{MessageID: "m", Body: body}}); len(failed) != 0 {
		r.t.Fatalf("fan-out failed %v", failed)
	}
}

// pump takes one batch off the queue through deliver, as a mapping does, and returns its size.
func (r *rig) pump(q testkit.Queue, wait time.Duration) int {
	r.t.Helper()
	received := testkit.Receive(r.t, r.cfg, q, wait)
	var records []queue.Record
	for _, m := range received {
		record := queue.Record{MessageID: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Attributes: queue.System{ReceiveCount: m.Attributes["ApproximateReceiveCount"], FirstReceive: m.Attributes["ApproximateFirstReceiveTimestamp"]},
			EventSourceARN: q.ARN, MessageAttributes: map[string]queue.Attribute{}}
		for name, a := range m.MessageAttributes {
			record.MessageAttributes[name] = queue.Attribute{StringValue: *a.StringValue, DataType: *a.DataType}
		}
		records = append(records, record)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	failed := map[string]bool{}
	for _, id := range r.deliver.Process(ctx, records) {
		failed[id] = true
	}
	for _, m := range received {
		if !failed[*m.MessageId] {
			if _, err := sqs.NewFromConfig(r.cfg).DeleteMessage(r.t.Context(), &sqs.DeleteMessageInput{QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle}); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return len(received)
}

// parked publishes one event to a receiver that fails, so that its retry waits.
func (r *rig) parked(to *receivers.Receiver) {
	r.t.Helper()
	r.create(to.URL, "user.*")
	r.publish("user.updated")
	if r.pump(r.deliveryQ, time.Second) != 1 || len(to.Requests()) != 1 {
		r.t.Fatalf("%d requests, want the first attempt", len(to.Requests()))
	}
}

func (r *rig) stateOf() delivery.Record {
	r.t.Helper()
	state, found, err := r.states.Get(r.t.Context(), delivery.ID(tenant, "evt_"+strings.Repeat("x", r.nextEvent), "webhook_1"))
	if err != nil || !found {
		r.t.Fatalf("state: %v, %v", found, err)
	}
	return state
}

func TestChangesHoldForARetryThatWaits(t *testing.T) {
	t.Run("a new URL", func(t *testing.T) {
		r := newRig(t)
		old := receivers.New(t, r.ca, receivers.Status(500))
		r.parked(old)
		other := receivers.New(t, r.ca, nil)
		r.change(func(e *endpoint.Endpoint) { e.URL = other.URL })
		r.pump(r.retryQ, 5*time.Second)
		if len(old.Requests()) != 1 || len(other.Requests()) != 1 || r.stateOf().State != delivery.Acknowledged {
			t.Errorf("%d requests at the old URL, %d at the new, %s", len(old.Requests()), len(other.Requests()), r.stateOf().State)
		}
	})
	t.Run("a rotated secret, and the id and body stay", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.parked(to)
		r.change(func(e *endpoint.Endpoint) { e.SecretVersion++; e.SealedSecret = r.seal(*e, "whs_second") })
		r.pump(r.retryQ, 5*time.Second)
		got := to.Wait(t, 2, 5*time.Second)
		for i, secret := range []string{"whs_first", "whs_second"} {
			want := signature.Sign(secret, got[i].Header.Get("wh-id"), seconds(t, got[i].Header), got[i].Body)
			if got[i].Header.Get("wh-signature") != want {
				t.Errorf("attempt %d is not signed with %s", i+1, secret)
			}
		}
		if got[0].Header.Get("wh-id") != got[1].Header.Get("wh-id") || string(got[0].Body) != string(got[1].Body) {
			t.Error("the id or the body changed")
		}
	})
	t.Run("changed events do not: subscriptions are decided at fan-out", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.parked(to)
		r.change(func(e *endpoint.Endpoint) { e.Events = []string{"organization.*"} })
		r.pump(r.retryQ, 5*time.Second)
		if len(to.Requests()) != 2 {
			t.Errorf("%d requests, want 2", len(to.Requests()))
		}
	})
	t.Run("disabled, then re-enabled", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.parked(to)
		r.change(func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled })
		r.pump(r.retryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 1 || s.State != delivery.Retrying || s.Reason != delivery.ReasonEndpointDisabled {
			t.Errorf("disabled: %d requests, %+v", len(to.Requests()), s)
		}
		r.change(func(e *endpoint.Endpoint) { e.Status = endpoint.Active })
		r.pump(r.retryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 2 || s.State != delivery.Acknowledged {
			t.Errorf("re-enabled: %d requests, %+v", len(to.Requests()), s)
		}
	})
	t.Run("deleted, then restored", func(t *testing.T) {
		r := newRig(t)
		to := receivers.New(t, r.ca, receivers.InTurn(500, 204))
		r.parked(to)
		r.change(func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Deleted, time.Now() })
		r.pump(r.retryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 1 || s.State != delivery.Discarded {
			t.Errorf("deleted: %d requests, %+v", len(to.Requests()), s)
		}
		r.change(func(e *endpoint.Endpoint) { e.Status, e.DeletedAt = endpoint.Active, time.Time{} })
		r.publish("user.updated")
		r.pump(r.deliveryQ, 5*time.Second)
		if s := r.stateOf(); len(to.Requests()) != 2 || s.State != delivery.Acknowledged {
			t.Errorf("restored: %d requests, %+v", len(to.Requests()), s)
		}
	})
}

func TestChangesHoldBetweenTwoBatches(t *testing.T) {
	r := newRig(t)
	to := receivers.New(t, r.ca, nil)
	other := receivers.New(t, r.ca, nil)
	r.create(to.URL, "user.*")
	step := func(name string, change func(*endpoint.Endpoint), messages, here, there int) {
		t.Helper()
		r.change(change)
		r.publish("user.created")
		got := r.pump(r.deliveryQ, time.Second)
		if got != messages || len(to.Requests()) != here || len(other.Requests()) != there {
			t.Errorf("%s: %d messages, %d and %d requests; want %d, %d and %d", name, got, len(to.Requests()), len(other.Requests()), messages, here, there)
		}
	}
	step("as created", func(*endpoint.Endpoint) {}, 1, 1, 0)
	step("a new URL", func(e *endpoint.Endpoint) { e.URL = other.URL }, 1, 1, 1)
	step("changed events", func(e *endpoint.Endpoint) { e.Events = []string{"user.deleted"} }, 0, 1, 1)
	step("every event", func(e *endpoint.Endpoint) { e.Events = []string{"*"} }, 1, 1, 2)
	step("disabled", func(e *endpoint.Endpoint) { e.Status = endpoint.Disabled }, 0, 1, 2)
	step("re-enabled", func(e *endpoint.Endpoint) { e.Status = endpoint.Active }, 1, 1, 3)
	step("deleted", func(e *endpoint.Endpoint) { e.Status = endpoint.Deleted }, 0, 1, 3)
	step("restored", func(e *endpoint.Endpoint) { e.Status = endpoint.Active }, 1, 1, 4)
	step("rotated", func(e *endpoint.Endpoint) { e.SecretVersion++; e.SealedSecret = r.seal(*e, "whs_new") }, 1, 1, 5)
	last := other.Requests()[4]
	if want := signature.Sign("whs_new", last.Header.Get("wh-id"), seconds(t, last.Header), last.Body); last.Header.Get("wh-signature") != want {
		t.Error("the delivery after the rotation is not signed with the new secret")
	}
}

func seconds(t *testing.T, h http.Header) int64 {
	t.Helper()
	at, err := time.ParseDuration(h.Get("wh-timestamp") + "s")
	if err != nil {
		t.Fatal(err)
	}
	return int64(at / time.Second)
}
