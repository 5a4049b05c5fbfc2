//go:build emulator

package release_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
)

const (
	tenant = "acme"
	hook   = "webhook_1"
)

// rig is release on real tables and queues. Its clock stands still unless a test moves it.
type rig struct {
	t               *testing.T
	cfg             aws.Config      // of the emulator
	faults          *testkit.Faults // between the handler and the emulator
	now             time.Time
	logs            bytes.Buffer // with the metrics
	release         *release.Handler
	endpoints       *dynamo.Endpoints
	backlog         *dynamo.Backlog
	health          *dynamo.Health
	states          *dynamo.Deliveries
	tables          testkit.TableNames
	retryQ, deadQ   testkit.Queue
	parked, changed int
	dollars         float64
}

func newRig(t *testing.T) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, db := testkit.Tables(t, cfg), dynamodb.NewFromConfig(cfg)
	r := &rig{
		t: t, cfg: cfg, tables: tables, faults: testkit.NewFaults(t, cfg),
		now:       time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
		endpoints: dynamo.NewEndpoints(db, tables.Endpoints), backlog: dynamo.NewBacklog(db, tables.Backlog),
		health: dynamo.NewHealth(db, tables.EndpointHealth), states: dynamo.NewDeliveries(db, tables.Deliveries),
		retryQ: testkit.NewQueue(t, cfg, "RetryQueue", testkit.QueueOptions{}),
		deadQ:  testkit.NewQueue(t, cfg, "DeadLetterQueue", testkit.QueueOptions{}),
	}
	r.release = r.another()
	return r
}

// another is a further process of the function.
func (r *rig) another() *release.Handler {
	r.t.Helper()
	clock := func() time.Time { return r.now }
	h, err := release.New(release.Config{
		Settings: release.Settings{
			EndpointsTable: r.tables.Endpoints, DeliveriesTable: r.tables.Deliveries, BacklogTable: r.tables.Backlog,
			EndpointHealthTable: r.tables.EndpointHealth,
			RetryQueueURL:       r.retryQ.URL, DeadLetterQueueURL: r.deadQ.URL, Minute: 60,
			FunctionTimeout: 30,
		},
		AWS: r.faults.Config(), Log: slog.New(slog.NewJSONHandler(&r.logs, nil)),
		Metrics: telemetry.NewMetrics(&r.logs, "test", "release", clock),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	h.Now = clock
	return h
}

// create stores an active endpoint of the tenant, last changed two hours ago.
func (r *rig) create(id string) endpoint.Endpoint {
	r.t.Helper()
	e := endpoint.Endpoint{
		ID: id, TenantID: tenant, URL: "https://receiver.example/hook", Events: []string{"*"}, Status: endpoint.Active,
		CreatedAt: r.now.Add(-2 * time.Hour), UpdatedAt: r.now.Add(-2 * time.Hour), SecretVersion: 1,
		SealedSecret: []byte("sealed"), Revision: "0",
	}
	if err := r.endpoints.Create(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
	return e
}

// change stores the endpoint as its owner changes it now.
func (r *rig) change(e endpoint.Endpoint, change func(*endpoint.Endpoint)) endpoint.Endpoint {
	r.t.Helper()
	next := e
	next.UpdatedAt = r.now
	change(&next)
	r.changed++
	next.Revision = strconv.Itoa(r.changed)
	if err := r.endpoints.Replace(r.t.Context(), e, next); err != nil {
		r.t.Fatal(err)
	}
	return next
}

// park stores an item of the endpoint that was stored an hour ago and lives for an hour from now.
func (r *rig) park(id string, change func(*backlog.Item)) backlog.Item {
	r.t.Helper()
	r.parked++
	created := r.now.Add(-time.Hour).Add(time.Duration(r.parked) * time.Second)
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%04d", r.parked), TenantID: tenant, EndpointID: id,
			EventID: fmt.Sprintf("event_%d", r.parked), CreatedAt: created,
		},
		Body: []byte(`{"type":"user.created","data":{"userId":"user_1"}}`),
	}
	next := delivery.Next{Attempts: 3, Due: r.now, Life: delivery.Life{
		StartedAt: created, DiesAt: r.now.Add(time.Hour), OwnDue: r.now, Reason: delivery.ReasonHTTP5xx, Status: 503,
	}}
	i := backlog.New(m, next, created, "random00")
	if change != nil {
		change(&i)
	}
	for _, err := range r.backlog.Put(r.t.Context(), []backlog.Item{i}) {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return i
}

// held is an item that waits for its endpoint.
func held(i *backlog.Item) { i.Held, i.DueAt = true, i.Message.Life.DiesAt }

// in is an item that is due so much from now.
func (r *rig) in(d time.Duration) func(*backlog.Item) {
	return func(i *backlog.Item) { i.DueAt = r.now.Add(d) }
}

// over is a held item whose life ended so long ago.
func (r *rig) over(d time.Duration) func(*backlog.Item) {
	return func(i *backlog.Item) {
		i.Message.Life.DiesAt = r.now.Add(-d)
		held(i)
	}
}

// note stores the health of an endpoint, which may be holding for ten minutes.
func (r *rig) note(i health.Item) {
	r.t.Helper()
	i.TenantID, i.Version, i.Held = tenant, max(i.Version, 1), true
	if i.Since.IsZero() {
		i.Since = r.now.Add(-10 * time.Minute)
	}
	i.Changed = i.Since
	if _, ok, err := r.health.Apply(r.t.Context(), health.Write{Kind: health.Put, Item: i}); err != nil || !ok {
		r.t.Fatal(ok, err)
	}
}

// open is an endpoint that is probed in a minute.
func (r *rig) open(id string) health.Item {
	return health.Item{
		EndpointID: id, State: health.Open, Failures: 9, NextProbe: r.now.Add(time.Minute),
		LastReason: "timeout", ProbeFailed: r.now.Add(-5 * time.Minute),
	}
}

// probed is an endpoint whose next probe is due.
func (r *rig) probed(id string) health.Item {
	i := r.open(id)
	i.NextProbe = r.now
	return i
}

// healthOf is what is stored about the endpoint; the zero item for nothing.
func (r *rig) healthOf(id string) health.Item {
	r.t.Helper()
	items, _, err := r.health.Trouble(r.t.Context(), 0, "")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, i := range items {
		if i.EndpointID == id {
			return i
		}
	}
	return health.Item{}
}

// tick runs release once, within Lambda's timeout.
func (r *rig) tick() error {
	r.t.Helper()
	return r.tickOf(r.release)
}

func (r *rig) tickOf(h *release.Handler) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), 50*time.Second)
	defer cancel()
	return h.Tick(ctx)
}

// mustTick is a tick without a fault.
func (r *rig) mustTick() {
	r.t.Helper()
	r.logs.Reset()
	if err := r.tick(); err != nil || strings.Contains(r.logs.String(), `"fault"`) {
		r.t.Fatalf("%v\n%s", err, r.logs.String())
	}
}

// message is one that a queue took.
type message struct {
	ID       string // of the delivery
	Delay    int    // seconds
	Group    string
	Attempts string
	Life     delivery.Life
	Body     string
}

// refusedEntries are those of a call that the queue does not take, where a test makes it so.
var refusedEntries = []int{0, 3}

// sent are the messages that the queue took since the proxy's calls were last reset, by delivery.
func (r *rig) sent(q testkit.Queue) (all []message) {
	r.t.Helper()
	for _, call := range r.faults.Calls("SendMessageBatch") {
		var in struct {
			QueueURL string `json:"QueueUrl"`
			Entries  []struct {
				MessageBody       string
				MessageGroupID    string `json:"MessageGroupId"`
				DelaySeconds      int
				MessageAttributes map[string]struct{ StringValue string }
			}
		}
		if err := json.Unmarshal(call.Body, &in); err != nil {
			r.t.Fatal(err)
		}
		partly := call.Fault == "fail entries InternalError"
		if in.QueueURL != q.URL || call.Fault != "" && call.Fault != "drop answer" && !partly {
			continue
		}
		for n, e := range in.Entries {
			if partly && slices.Contains(refusedEntries, n) {
				continue
			}
			life, err := delivery.DecodeLife(e.MessageAttributes["life"].StringValue)
			if err != nil {
				r.t.Fatal(err)
			}
			all = append(all, message{
				ID: e.MessageAttributes["delivery_id"].StringValue, Delay: e.DelaySeconds, Group: e.MessageGroupID,
				Attempts: e.MessageAttributes["attempts"].StringValue, Life: life, Body: e.MessageBody,
			})
		}
	}
	slices.SortFunc(all, func(a, b message) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func ids(messages []message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

func idsOf(items []backlog.Item) (ids []string) {
	for _, i := range items {
		ids = append(ids, i.Message.DeliveryID)
	}
	slices.Sort(ids)
	return ids
}

// waiting is what Backlog holds for the endpoint, by position.
func (r *rig) waiting(id string) (all []backlog.Item) {
	r.t.Helper()
	for shard := range backlog.Shards {
		page, err := r.backlog.ReadShard(r.t.Context(), id, shard, "", 1000)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, page.Items...)
	}
	slices.SortFunc(all, func(a, b backlog.Item) int { return strings.Compare(a.Position, b.Position) })
	return all
}
