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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/control"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// world is the function on the emulator, behind a proxy for faults.
type world struct {
	control   *control.Handler
	endpoints *dynamo.Endpoints
	circuits  *dynamo.Circuits
	faults    *testkit.Faults
	cfg       aws.Config
	queue     testkit.Queue // DeliveryQueue
	id        string        // of acme's endpoint
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, faults := testkit.Tables(t, cfg), testkit.NewFaults(t, cfg)
	db := dynamodb.NewFromConfig(cfg)
	deliveries := testkit.NewQueue(t, cfg, "deliveries")
	w := &world{
		cfg: cfg, queue: deliveries,
		endpoints: dynamo.NewEndpoints(db, tables.Endpoints), circuits: dynamo.NewCircuits(db, tables.EndpointHealth),
		faults: faults,
		control: control.New(control.Config{
			Settings: control.Settings{
				EndpointsTable: tables.Endpoints, EndpointHealthTable: tables.EndpointHealth, BacklogTable: tables.Backlog,
				AuditLogGroup:    testkit.LogGroup(t, cfg, "audit"),
				DeliveryQueueURL: deliveries.URL, Minute: config.Seconds(60), FunctionTimeout: config.Seconds(30),
			},
			AWS: faults.Config(), Log: slog.New(slog.DiscardHandler),
		}),
	}
	id, err := endpoint.NewID(time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.id = id
	err = w.endpoints.Create(t.Context(), endpoint.Endpoint{
		ID: id, TenantID: "acme", URL: "https://example.com/", Events: []string{"*"}, Status: endpoint.Active,
		CreatedAt: time.Now(), UpdatedAt: time.Now(), SecretVersion: 1, SealedSecret: []byte("sealed"), Revision: "1",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// answer is what control answers, or the code of its refusal.
func (w *world) answer(t *testing.T, action, fields string) (a control.Answer, code string) {
	t.Helper()
	request := fmt.Sprintf(`{"action":%q,"operator":"ann","tenant_id":"acme"%s}`, action, fields)
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

func TestAnEndpointIsPausedResumedReleasedAndDiscarded(t *testing.T) {
	w := newWorld(t)
	one := fmt.Sprintf(`,"endpoint_id":%q`, w.id)
	type step struct{ result, state, code string }
	var got []step
	for _, s := range [][2]string{
		{"resume", ""}, {"pause", `,"reason":"asked"`}, {"pause", ""}, {"release", ""}, {"resume", ""}, {"release", ""},
		{"discard", `,"confirm":true`},
	} {
		a, code := w.answer(t, s[0], one+s[1])
		got = append(got, step{a.Result, a.State, code})
	}
	want := []step{
		{"", "", "not_paused"}, {"paused", "paused", ""}, {"", "", "already_paused"}, {"", "", "paused"},
		{"resumed", "healthy", ""}, {"releasing", "healthy", ""}, {"discarding", "healthy", ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	all, err := w.endpoints.Marks(t.Context(), "acme")
	marks := all.Endpoints[w.id]
	if err != nil || marks.Paused() || marks.DiscardedBefore.IsZero() || marks.ReleasedAt.IsZero() {
		t.Errorf("%v, marks %+v", err, marks)
	}
	i, err := w.circuits.Get(t.Context(), w.id)
	if err != nil || i.HeldUntil.IsZero() || !marks.ReleasedAt.After(i.Since) {
		t.Errorf("%v, %+v: release would not look, or see no order", err, i)
	}
}

func TestATenantIsPausedAndResumed(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct{ action, state string }{
		{"pause", "paused"}, {"resume", "healthy"}, {"pause", "paused"},
	} {
		if a, code := w.answer(t, step.action, `,"reason":"abuse"`); a.State != step.state || code != "" {
			t.Errorf("%s: %+v %s", step.action, a, code)
		}
	}
	if _, code := w.answer(t, "release", fmt.Sprintf(`,"endpoint_id":%q`, w.id)); code != "tenant_paused" {
		t.Errorf("released under the pause: %q", code)
	}
}

func TestOfTwoOperatorsOneIsHeard(t *testing.T) {
	w := newWorld(t)
	codes := make([]string, 4)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() { _, codes[i] = w.answer(t, "pause", fmt.Sprintf(`,"endpoint_id":%q,"reason":"%d"`, w.id, i)) })
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

func TestATestIsOnDeliveryQueueUnlessItIsRefused(t *testing.T) {
	w := newWorld(t)
	one := fmt.Sprintf(`,"endpoint_id":%q`, w.id)
	if _, code := w.answer(t, "pause", one); code != "" {
		t.Fatal(code)
	}
	if _, code := w.answer(t, "test", one); code != "paused" {
		t.Errorf("tested under the pause: %q", code)
	}
	if _, code := w.answer(t, "resume", one); code != "" {
		t.Fatal(code)
	}
	if a, code := w.answer(t, "test", one); a.Result != "sent" || code != "" {
		t.Fatalf("%+v %s", a, code)
	}
	got, err := sqs.NewFromConfig(w.cfg).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &w.queue.URL, MaxNumberOfMessages: 10,
	})
	if err != nil || len(got.Messages) != 1 || *got.Messages[0].Body != `{"type":"herald.test","data":{}}` {
		t.Errorf("%v, on the queue %+v", err, got)
	}
}
