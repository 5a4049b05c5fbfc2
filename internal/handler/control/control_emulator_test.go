//go:build emulator

package control_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/control"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// world is the function on the emulator, behind a proxy for faults.
type world struct {
	control *control.Handler
	health  *dynamo.Health
	backlog *dynamo.Backlog
	faults  *testkit.Faults
	id      string // of acme's endpoint
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, faults := testkit.Tables(t, cfg), testkit.NewFaults(t, cfg)
	db := dynamodb.NewFromConfig(cfg)
	w := &world{
		health: dynamo.NewHealth(db, tables.EndpointHealth), backlog: dynamo.NewBacklog(db, tables.Backlog),
		faults: faults,
		control: control.New(control.Config{
			Settings: control.Settings{
				EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth, BacklogTable: tables.Backlog,
			},
			AWS: faults.Config(), Log: slog.New(slog.DiscardHandler),
		}),
	}
	id, err := endpoint.NewID(time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.id = id
	err = dynamo.NewEndpoints(db, tables.Endpoints).Create(t.Context(), endpoint.Endpoint{
		ID: id, TenantID: "acme", URL: "https://example.com/", Events: []string{"*"}, Status: endpoint.Active,
		CreatedAt: time.Now(), UpdatedAt: time.Now(), SecretVersion: 1, SealedSecret: []byte("sealed"), Revision: "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// answer is what control answers, or the code of its refusal.
func (w *world) answer(t *testing.T, action, fields string) (a control.Answer, code string) {
	t.Helper()
	request := fmt.Sprintf(`{"action":%q,"operator":"ann","tenant_id":"acme",%s}`, action, fields)
	out, err := w.control.Function().Invoke(t.Context(), []byte(request))
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	var decoded struct {
		control.Answer
		Error struct{ Code string }
	}
	if err := json.Unmarshal(out, &decoded); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return decoded.Answer, decoded.Error.Code
}

func (w *world) item(t *testing.T) health.Item {
	t.Helper()
	i, err := w.health.Get(t.Context(), w.id)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (w *world) wait(t *testing.T, n int) {
	t.Helper()
	items := make([]backlog.Item, n)
	for i := range items {
		m := delivery.Message{Ref: delivery.Ref{
			DeliveryID: fmt.Sprint("msg_", i), TenantID: "acme", EndpointID: w.id, EventID: "e", CreatedAt: time.Now(),
		}, Body: []byte("{}")}
		items[i] = backlog.New(m, delivery.Next{Due: time.Now().Add(time.Hour), Held: true}, time.Now(), rand.Text())
	}
	for _, err := range w.backlog.Put(t.Context(), items) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnEndpointIsPausedResumedReleasedAndItsDeliveriesDiscarded(t *testing.T) {
	w := newWorld(t)
	w.wait(t, 3)
	this := fmt.Sprintf(`"endpoint_id":%q`, w.id)
	type step struct{ Result, State, Refused string }
	var got []step
	for _, action := range []string{"resume", "pause", "pause", "release", "resume", "release", "discard"} {
		fields := this
		if action == "discard" {
			fields += `,"confirm":true`
		}
		a, code := w.answer(t, action, fields)
		got = append(got, step{a.Result, a.State, code})
		if counts := action == "release" || action == "discard"; code == "" && counts && a.Waiting.Count != 3 {
			t.Errorf("%s counts %+v", action, a.Waiting)
		}
	}
	want := []step{
		{"", "", "not_paused"}, {"paused", "paused", ""}, {"", "", "already_paused"}, {"", "", "paused"},
		{"resumed", "recovering", ""}, {"releasing", "recovering", ""}, {"discarding", "recovering", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if i := w.item(t); i.Paused || !i.Held || i.DiscardedBefore.IsZero() || i.TenantID != "acme" {
		t.Errorf("stored: %+v", i)
	}
}

func TestATenantIsPausedAndResumed(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct{ action, state string }{
		{"pause", "paused"}, {"resume", "healthy"}, {"pause", "paused"},
	} {
		if a, code := w.answer(t, step.action, `"reason":"abuse"`); a.State != step.state || code != "" {
			t.Errorf("%s: %+v %s", step.action, a, code)
		}
	}
	if _, code := w.answer(t, "release", fmt.Sprintf(`"endpoint_id":%q`, w.id)); code != "tenant_paused" {
		t.Errorf("released under the pause: %q", code)
	}
}

// When an answer of DynamoDB's is lost, the SDK asks again: the write that was done is not taken for
// another operator's.
func TestALostAnswerIsNoRefusal(t *testing.T) {
	w := newWorld(t)
	w.faults.On("PutItem", 1, testkit.DropAnswer())
	if a, code := w.answer(t, "pause", fmt.Sprintf(`"endpoint_id":%q`, w.id)); a.State != "paused" || code != "" {
		t.Errorf("answered %+v, %q", a, code)
	}
	w.answer(t, "pause", `"reason":"abuse"`)
	w.faults.On("DeleteItem", 1, testkit.DropAnswer()) // nothing is left of a tenant's item
	if a, code := w.answer(t, "resume", `"reason":""`); a.Result != "resumed" || a.State != "healthy" || code != "" {
		t.Errorf("answered %+v, %q", a, code)
	}
}

func TestOfTwoOperatorsOneIsHeard(t *testing.T) {
	w := newWorld(t)
	codes := make([]string, 4)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() { _, codes[i] = w.answer(t, "pause", fmt.Sprintf(`"endpoint_id":%q`, w.id)) })
	}
	all.Wait()
	count := map[string]int{}
	for _, code := range codes {
		count[code]++
	}
	if diff := cmp.Diff(map[string]int{"": 1, "already_paused": 3}, count); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}
