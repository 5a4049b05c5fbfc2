//go:build emulator

package cost

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/operators/apikeys"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// lines counts audit lines, each of which is a request to CloudWatch Logs.
type lines struct{ written atomic.Int64 }

func (l *lines) Write(_ context.Context, written ...audit.Line) error {
	l.written.Add(int64(len(written)))
	return nil
}

// counting counts the calls of a configuration.
func counting(cfg aws.Config, calls *atomic.Int64) aws.Config {
	cfg.APIOptions = append(cfg.APIOptions, func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("calls", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			calls.Add(1)
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	})
	return cfg
}

// A look at a tenant reads its endpoints, whatever their state, and its dead letters. The document states the cost at
// 50 endpoints.
func TestWhatATenantReads(t *testing.T) {
	const count, letters = 50, 100
	r := newRig(t, traffic{})
	client := dynamodb.NewFromConfig(r.counted(r.cfg.Copy()))
	endpoints := dynamo.NewEndpoints(client, r.options.Resources["Endpoints"])
	dead := dynamo.NewDeadLetters(client, r.options.Resources["DeadLetters"])
	ids := make([]string, count)
	for _, err := range parallel.Each(count, 8, func(n int) error {
		ids[n] = endpoint.NewID(r.now)
		return endpoints.Create(t.Context(), endpoint.Endpoint{
			ID: ids[n], TenantID: tenantID(0), URL: fmt.Sprintf("https://hooks-%d.example.com/webhooks?source=herald", n),
			Description: "Our CRM, by its owner's words", Events: []string{"user.created", "user.updated", "organization.*"},
			Status: endpoint.Active, CreatedAt: r.now, UpdatedAt: r.now, SecretRotatedAt: r.now,
			SealedSecret: make([]byte, 200), SecretVersion: 1,
		}, nil)
	}) {
		must(0, err)
	}
	for _, err := range parallel.Each(letters, 8, func(n int) error {
		_, err := dead.Create(t.Context(), deadletter.Record{
			Ref: delivery.Ref{
				DeliveryID: fmt.Sprintf("msg_%032d", n), TenantID: tenantID(0), EndpointID: ids[n%count],
				EventID: "evt_01JD00000000000000000000", CreatedAt: r.now,
			},
			EventType: "user.updated", Reason: delivery.ReasonHTTP5xx, Attempts: 10, DiedAt: r.now,
			Sealed: deadletter.Sealed{Body: make([]byte, 800)},
		})
		return err
	}) {
		must(0, err)
	}
	var calls atomic.Int64
	f := inspect.New(inspect.Config{
		Settings: functions.Settings[inspect.Settings](t, r.options, "inspect"),
		AWS:      counting(r.options.AWS("inspect"), &calls), Log: slog.New(slog.DiscardHandler),
	}).Function()
	r.costs(t, f, "tenant", `"tenant_id":"`+tenantID(0)+`"`, &calls, most{30, 250})
	event := `"event_id":"evt_01JD00000000000000000000","tenant_id":"` + tenantID(0) + `"`
	r.costs(t, f, "deliveries", event, &calls, most{420, 230})
	r.costs(t, f, "dead_letters", event, &calls, most{5, 100})
	r.revokesKeys(t)
}

// most are bounds of what an action takes, as the document states it.
type most struct {
	calls int64
	units float64
}

// costs asks once, and compares the calls and the read units with their bounds.
func (r *rig) costs(t *testing.T, f *invoke.Function, action, fields string, calls *atomic.Int64, bound most) {
	t.Helper()
	before := r.used[reads]
	calls.Store(0)
	if got := testkit.Refusal(t, testkit.Ask(t, f, action, fields)); got != "" {
		t.Fatalf("%s: %s", action, got)
	}
	used := r.used[reads] - before
	t.Logf("%s: %d calls, %.1f read units", action, calls.Load(), used)
	if calls.Load() > bound.calls || calls.Load() == 0 || used > bound.units || used == 0 {
		t.Errorf("%s: %d calls and %.1f read units, at most %v", action, calls.Load(), used, bound)
	}
}

// revokesKeys ends ten keys. Each takes a read, an audit line and a write.
func (r *rig) revokesKeys(t *testing.T) {
	t.Helper()
	const count = 10
	var calls atomic.Int64
	store := dynamo.NewAPIKeys(dynamodb.NewFromConfig(counting(r.counted(r.cfg.Copy()), &calls)),
		r.options.Resources["ApiKeys"])
	for range count {
		key, _ := apikey.New(r.now)
		key.TenantID, key.Scopes = tenantID(0), apikey.Scopes()
		must(0, store.Put(t.Context(), key))
	}
	told := &lines{}
	f := (&apikeys.Handler{
		Keys: store, Audit: told, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return r.now },
	}).Function()
	r.costs(t, f, "revoke_all", `"confirm":true,"tenant_id":"`+tenantID(0)+`"`, &calls, most{2 + 2*count, 20})
	if told.written.Load() != count {
		t.Errorf("%d audit lines", told.written.Load())
	}
}
