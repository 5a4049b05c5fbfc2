package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/allowance"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

var (
	at       = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	occurred = at.Add(-time.Hour)
)

// account is an account of the model of AWS with inspect on it, in the fake time of a bubble of synctest. The model
// keeps the state. Tests give verdicts about calls.
type account struct {
	*testing.T
	*model.Model
	rejected *model.Queue         // EventsDeadLetterQueue
	depths   map[string][3]string // of queues, by URL: visible, in flight, delayed; others are empty

	// verdict is asked about every call, and may wait. Nil does all of them.
	verdict func(c *model.Call) model.Verdict

	mu    sync.Mutex
	made  int            // calls
	calls map[string]int // by name
	lines []audit.Line
	log   bytes.Buffer
}

// inAccount runs a test in an empty account.
func inAccount(t *testing.T, do func(a *account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at))
		m := model.New()
		a := &account{T: t, Model: m, rejected: m.NewQueue("EventsDeadLetterQueue"), calls: map[string]int{}}
		m.Judge = a.judge
		do(a)
	})
}

// judge counts a call, and does as the test says.
func (a *account) judge(c *model.Call) model.Verdict {
	v := model.Done
	if a.verdict != nil {
		v = a.verdict(c)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made++
	a.calls[c.Name]++
	return v
}

// refuse has the calls with a name refused; with none, none.
func (a *account) refuse(name string) {
	a.verdict = func(c *model.Call) model.Verdict {
		if c.Name == name {
			return model.Refused
		}
		return model.Done
	}
}

// refuseCall has the n-th call refused.
func (a *account) refuseCall(n int) (refused *model.Call) {
	refused = &model.Call{}
	asked := 0
	a.verdict = func(c *model.Call) model.Verdict {
		a.mu.Lock()
		defer a.mu.Unlock()
		asked++
		if asked == n {
			*refused = *c
			return model.Refused
		}
		return model.Done
	}
	return refused
}

// GetQueueAttributes measures a queue.
func (a *account) GetQueueAttributes(
	_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options),
) (*sqs.GetQueueAttributesOutput, error) {
	d, known := a.depths[aws.ToString(in.QueueUrl)]
	if !known {
		d = [3]string{"0", "0", "0"}
	}
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{
		"ApproximateNumberOfMessages": d[0], "ApproximateNumberOfMessagesNotVisible": d[1],
		"ApproximateNumberOfMessagesDelayed": d[2],
	}}, nil
}

// trail is the audit log, with the lines that it took.
type trail struct {
	model.Audit
	a *account
}

func (l trail) Write(ctx context.Context, lines ...audit.Line) error {
	err := l.Audit.Write(ctx, lines...)
	if err == nil {
		l.a.lines = append(l.a.lines, lines...)
	}
	return err
}

// ids lists endpoints by their keys alone, so that a broken row is listed, too (dynamo.Endpoints.Only(dynamo.Keys)).
type ids struct {
	model.Endpoints
	a *account
}

func (i ids) List(ctx context.Context, tenantID string) (keys []endpoint.Endpoint, err error) {
	if _, err := i.Endpoints.List(ctx, tenantID); err != nil && !errors.Is(err, endpoint.ErrUnreadable) {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(i.a.Endpoints)) {
		if e := i.a.Endpoints[id]; e.TenantID == tenantID {
			key := endpoint.Endpoint{TenantID: tenantID, ID: id}
			if !e.Live() {
				key.Status = endpoint.Deleted
			}
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (a *account) function() *invoke.Function {
	p := a.Process("inspect")
	reader := p.Reader(false)
	reader.Deleted = true
	h := &Handler{
		Deliveries: p.Deliveries(), DeadLetters: p.DeadLetters(), Jobs: p.Jobs(), Meter: a,
		Directory: invoke.Directory{Endpoints: p.Endpoints(), Circuits: p.Circuits()}, IDs: ids{p.Endpoints(), a},
		Subscribers: p.Endpoints(), Owners: p.Endpoints(),
		Circuits: p.Circuits(), Readings: reader, Allowance: allowance.New(200, 15*time.Second), Backlog: p.Backlog(),
		Probing: circuit.New(time.Minute, 30*time.Second), MaxLife: 7 * 24 * time.Hour,
		Vault:    deadletter.Vault{Keys: p.OpeningKeys()},
		Rejected: rejected.Queue{Client: p.Polled(a.rejected)},
		Queues: map[string]string{
			"EventsQueue": "url/events", "RetryQueue": "url/retries", eventsDeadLetterQueue: "url/rejected",
		},
		Audit: trail{p.Audit(), a}, Log: slog.New(slog.NewJSONHandler(&a.log, nil)), Now: time.Now,
	}
	return h.Function()
}

func (a *account) ask(action, fields string) string {
	a.Helper()
	return testkit.Ask(a.T, a.function(), action, fields)
}

// read asks, and decodes an answer that is no refusal.
func read[R any](a *account, action, fields string) R {
	a.Helper()
	return testkit.Read[R](a.T, a.ask(action, fields))
}

func (a *account) putEndpoints(all ...endpoint.Endpoint) {
	for _, e := range all {
		a.Endpoints[e.ID] = e
	}
}

func (a *account) putCircuits(all ...circuit.Item) {
	for _, i := range all {
		a.Circuits[i.EndpointID] = i
	}
}

func (a *account) putLetters(all ...deadletter.Record) {
	for _, r := range all {
		a.Letters[r.DeliveryID] = r
	}
}

func (a *account) putDeliveries(all ...delivery.Record) {
	for _, r := range all {
		a.States[r.DeliveryID] = r
	}
}

func (a *account) putJob(j job.Job, pages ...job.Page) {
	row := model.JobRow{Job: j, Pages: map[int]job.Page{}}
	for _, p := range pages {
		row.Pages[p.Number] = p
	}
	a.Jobs[j.ID] = row
}

// wait puts so many deliveries into Backlog, some of them held for their endpoint. The oldest was created at a time.
func (a *account) wait(endpointID string, n, held int, oldest time.Time) {
	for i := range n {
		m := delivery.Message{Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%s_%05d", endpointID, i), TenantID: "acme", EndpointID: endpointID,
			CreatedAt: oldest.Add(time.Duration(i) * time.Millisecond),
		}}
		stored := time.Now().Add(-time.Hour) // the index knows it by now
		a.Backlog.Set(backlog.New(m, delivery.Move{Attempts: 5, Due: since, Held: i < held}, stored, "put"), stored)
	}
}

// slow has tenants become slow, until some time.
func (a *account) slow(until map[string]time.Time) {
	a.Helper()
	circuits := a.Process("deliver").Circuits()
	for tenantID, to := range until {
		from, err := circuits.Charge(a.Context(), tenantID, time.Millisecond, time.Now())
		if err == nil {
			err = circuits.MoveSlow(a.Context(), tenantID, from, to)
		}
		if err != nil {
			a.Fatal(err)
		}
	}
}

// reject has fanout reject events.
func (a *account) reject(events ...rejected.Event) {
	for _, e := range events {
		a.rejected.Send(rejected.Message(e))
	}
}

func ref(id string) delivery.Ref {
	return delivery.Ref{
		DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "evt_1", CreatedAt: at, Replay: 1,
	}
}

// before is ref with the time that the publisher gave.
func before(id string) delivery.Ref {
	r := ref(id)
	r.OccurredAt = occurred
	return r
}

// sealed is a record with a sealed death.
func sealed(t *testing.T, r deadletter.Record, death deadletter.Death) deadletter.Record {
	t.Helper()
	vault := deadletter.Vault{Keys: testkit.OneKey{}}
	s, err := vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = s
	return r
}
