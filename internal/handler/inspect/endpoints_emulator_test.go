//go:build emulator

package inspect_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/inspect"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// world is what inspect reads about endpoints, on the emulator.
type world struct {
	inspect    *inspect.Handler
	endpoints  *dynamo.Endpoints
	circuits   *dynamo.Circuits
	backlog    *dynamo.Backlog
	deliveries *dynamo.Deliveries
	now        time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := testkit.Moto(t)
	tables := testkit.Tables(t, cfg)
	return newWorldOn(cfg, tables, inspect.New(inspect.Config{
		Settings: inspect.Settings{
			EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth,
			BacklogTable: tables.Backlog, DeliveriesTable: tables.Deliveries, MaxLifeDays: 7,
		},
		AWS: cfg, Log: slog.New(slog.DiscardHandler),
	}))
}

func newWorldOn(cfg aws.Config, tables testkit.TableNames, h *inspect.Handler) *world {
	db := dynamodb.NewFromConfig(cfg)
	return &world{
		now:       time.Now().UTC().Truncate(time.Millisecond),
		endpoints: dynamo.NewEndpoints(db, tables.Endpoints), circuits: dynamo.NewCircuits(db, tables.EndpointHealth),
		backlog: dynamo.NewBacklog(db, tables.Backlog), deliveries: dynamo.NewDeliveries(db, tables.Deliveries),
		inspect: h,
	}
}

// create makes an endpoint of acme with n deliveries held for it.
func (w *world) create(t *testing.T, id string, n int) {
	t.Helper()
	err := w.endpoints.Create(t.Context(), endpoint.Endpoint{
		ID: id, TenantID: "acme", URL: "https://example.com/" + id + "?key=secret", Events: []string{"user.*"},
		Status: endpoint.Active, CreatedAt: w.now, UpdatedAt: w.now, SecretVersion: 1, SealedSecret: []byte("sealed"),
		Revision: "1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	items := make([]backlog.Item, n)
	for i := range items {
		m := delivery.Message{Ref: delivery.Ref{
			DeliveryID: fmt.Sprint("msg_", i), TenantID: "acme", EndpointID: id, EventID: "e", CreatedAt: w.now,
		}, Body: []byte("{}")}
		items[i] = backlog.New(m, delivery.Move{Due: w.now.Add(time.Hour), Held: true}, w.now, rand.Text())
	}
	for _, err := range w.backlog.Put(t.Context(), items) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// open opens the circuit of an endpoint of acme.
func (w *world) open(t *testing.T, id string) {
	t.Helper()
	i := circuit.Item{
		TenantID: "acme", EndpointID: id, Version: 1, State: circuit.Open, Since: w.now.Add(-time.Hour), Failures: 50,
		Last: circuit.Answer{At: w.now, Status: 503, Reason: "http_5xx"},
	}
	if _, applied, err := w.circuits.Store(t.Context(), circuit.Item{}, i); err != nil || !applied {
		t.Fatal(applied, err)
	}
}

func answer[T any](t *testing.T, w *world, action, fields string) (decoded T) {
	t.Helper()
	out, err := w.inspect.Function().Invoke(t.Context(), []byte(`{"action":"`+action+`","operator":"ann"`+fields+`}`))
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	if err := json.Unmarshal(out, &decoded); err != nil || strings.Contains(string(out), `"error"`) {
		t.Fatalf("%s: %s", action, out)
	}
	return decoded
}

type page struct {
	Data       []inspect.Trouble `json:"data"`
	NextCursor *string           `json:"next_cursor"`
}

func TestEndpointsInTroubleAreListedPageByPageWithTheirBacklog(t *testing.T) {
	w := newWorld(t)
	since, kept := w.now.Add(-time.Hour), w.now.Add(7*24*time.Hour)
	for i := range 5 {
		id := fmt.Sprint("webhook_", i)
		w.create(t, id, i)
		w.open(t, id)
	}
	if _, err := w.circuits.Charge(t.Context(), "slow", time.Hour, w.now); err != nil { // no endpoint
		t.Fatal(err)
	}
	var got []inspect.Trouble
	for cursor := ""; ; {
		p := answer[page](t, w, "endpoints", `,"state":"open","limit":2`+cursor)
		got = append(got, p.Data...)
		if p.NextCursor == nil {
			break
		}
		cursor = `,"cursor":"` + *p.NextCursor + `"`
	}
	slices.SortFunc(got, func(a, b inspect.Trouble) int { return strings.Compare(a.EndpointID, b.EndpointID) })
	var want []inspect.Trouble
	for i := range 5 {
		waiting := &inspect.Waiting{Count: i, Held: i}
		if i > 0 {
			waiting.OldestCreatedAt, waiting.KeptUntil = &w.now, &kept
		}
		want = append(want, inspect.Trouble{
			TenantID: "acme", EndpointID: fmt.Sprint("webhook_", i), Host: "example.com", Waiting: waiting,
			Health: inspect.Health{
				State: "open", Since: &since, Failures: 50, LastFailureAt: &w.now, LastStatus: 503, LastReason: "http_5xx",
			},
		})
	}
	unknown := cmpopts.IgnoreFields(inspect.Health{}, "NextProbeAt", "Note") // circuit's
	if diff := cmp.Diff(want, got, unknown); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
}

func TestAnEndpointIsShownWithTheMarksOfItsTenant(t *testing.T) {
	w := newWorld(t)
	w.create(t, "webhook_1", 3)
	pause := func(m *endpoint.Marks) bool { return m.Pause(w.now, "ann", "asked") }
	if _, _, err := w.endpoints.Mark(t.Context(), dynamo.EndpointKey{TenantID: "acme"}, pause); err != nil {
		t.Fatal(err)
	}
	kept := w.now.Add(7 * 24 * time.Hour)
	want := inspect.Endpoint{
		TenantID: "acme", EndpointID: "webhook_1", URL: "https://example.com", Status: "active",
		Events: []string{"user.*"}, CreatedAt: w.now, UpdatedAt: w.now, TenantPaused: true,
		Health:  inspect.Health{State: "paused", Since: &w.now, PausedBy: "ann", PauseReason: "asked"},
		Waiting: &inspect.Waiting{Count: 3, Held: 3, OldestCreatedAt: &w.now, KeptUntil: &kept},
	}
	got := answer[inspect.Endpoint](t, w, "endpoint", `,"tenant_id":"acme","endpoint_id":"webhook_1"`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
}

func TestDeliveriesOfAnEventAreFoundAtEveryEndpoint(t *testing.T) {
	w := newWorld(t)
	body := []byte(`{"type":"user.deleted","data":{ }}`)
	for i := range 50 {
		id := fmt.Sprintf("webhook_%03d", i)
		w.create(t, id, 0)
		_, err := w.deliveries.Update(t.Context(), delivery.Record{
			State: delivery.Waiting, Reason: "circuit_open", NextAttemptAt: w.now.Add(time.Hour), UpdatedAt: w.now,
			Ref: delivery.Ref{
				DeliveryID: delivery.ID("acme", "evt_1", id, delivery.ContentOf(body)), TenantID: "acme", EndpointID: id,
				EventID: "evt_1", CreatedAt: w.now,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	next := w.now.Add(time.Hour)
	want := inspect.Delivery{
		DeliveryID: delivery.ID("acme", "evt_1", "webhook_007", delivery.ContentOf(body)), TenantID: "acme",
		EndpointID: "webhook_007", EventID: "evt_1", State: "waiting", Reason: "circuit_open", NextAttemptAt: &next,
		CreatedAt: w.now, UpdatedAt: w.now,
	}
	for _, fields := range []string{
		`,"tenant_id":"acme","event_id":"evt_1"`,
		`,"event":{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{ }}`,
	} {
		got := answer[struct{ Data []inspect.Delivery }](t, w, "deliveries", fields)
		if len(got.Data) != 50 {
			t.Fatalf("%s: %d deliveries, want 50", fields, len(got.Data))
		}
		if diff := cmp.Diff(want, got.Data[7]); diff != "" {
			t.Errorf("%s: delivery (-want +got):\n%s", fields, diff)
		}
	}
}
