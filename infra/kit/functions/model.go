package functions

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/operators/control"
	handledead "github.com/herald-webhooks/herald/internal/pipeline/deadletter"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/pipeline/release"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/rules/trace"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Process is an execution environment of each function, which calls AWS through the model alone.
type Process struct {
	*model.Process

	model      *model.Model
	deliver    *deliver.Handler
	release    *release.Handler
	deadletter *handledead.Handler
	control    *control.Handler
}

// OnModel starts a process. The clocks of a model's processes differ by nanoseconds, so that no two read the same time.
func OnModel(m *model.Model, name string, rules deliver.Rules, random *rand.Rand) *Process {
	p := &Process{Process: m.Process(name), model: m}
	skew := time.Duration(m.Processes())
	var drawing sync.Mutex
	now := func() time.Time { return time.Now().Add(skew) }
	log := slog.New(slog.DiscardHandler)
	metrics := func(of string) *telemetry.Metrics { return telemetry.NewMetrics(io.Discard, "test", of, now) }
	number := func() float64 {
		drawing.Lock()
		defer drawing.Unlock()
		return random.Float64()
	}
	p.deliver = &deliver.Handler{
		Tables: deliver.Tables{
			Endpoints: p.Reader(true), Circuits: p.Circuits().WithoutNotices(), Rates: p.Rates(),
			Backlog: p.Backlog(), Deliveries: p.Deliveries(),
		},
		Queues: deliver.Queues{
			Retry: p.Sender(m.RetryQueue), Slow: p.Sender(m.SlowQueue), DeadLetter: p.Sender(m.DeadLetterQueue),
			Hide: map[delivery.Queue]deliver.Visibility{
				delivery.RetryQueue: p.Hider(m.RetryQueue), delivery.SlowQueue: p.Hider(m.SlowQueue),
			},
			ARNs: map[string]delivery.Queue{
				m.RetryQueue.Name: delivery.RetryQueue, m.SlowQueue.Name: delivery.SlowQueue,
			},
		},
		Secrets: p.Keys(),
		Tokens:  &tokens.Keeper{Server: p.Asker(), Shared: p.Tokens(), Patience: token.Patience, Now: now},
		Sender:  delivery.Sender{Client: p.Poster(), UserAgent: "Herald/test", Now: now},
		Rules:   rules,
		Output:  deliver.Output{Log: log, Metrics: metrics("deliver")}, Now: now, Random: number,
	}
	p.release = &release.Handler{
		Backlog: p.Backlog(), Circuits: p.Circuits(), Endpoints: p.Reader(false), Records: p.Deliveries(), Rates: p.Rates(),
		RetryQueue: p.Sender(m.RetryQueue), DeadLetterQueue: p.Sender(m.DeadLetterQueue), Wake: noJobs,
		Settings: rules.Circuit, Schedule: rules.Schedule, Allowance: rules.Allowance,
		Log: log, Metrics: metrics("release"), Now: now, Random: number,
	}
	p.deadletter = &handledead.Handler{
		States: p.Deliveries(), Store: p.DeadLetters(), Vault: deadletter.Vault{Keys: p.Keys()},
		Log: log, Metrics: metrics("deadletter"), Now: now,
	}
	p.control = &control.Handler{
		Endpoints: p.Endpoints(), Circuits: p.Circuits(), Backlog: p.Backlog(), Settings: rules.Circuit,
		Audit: p.Audit(), Log: log, Now: now,
	}
	return p
}

// Watch has the functions write their lines to log, and deliver send traces to receivers.
func (p *Process) Watch(log *slog.Logger, newSpan func() trace.SpanID) {
	p.deliver.Output.Log = log
	p.release.Log = log
	p.deadletter.Log = log
	p.control.Log = log
	p.deliver.Output.Sample = telemetry.Everything
	p.deliver.Sender.NewSpan = newSpan
}

// Wrap has release work on what wrap makes of its Backlog.
func (p *Process) Wrap(wrap func(release.Backlog) release.Backlog) {
	p.release.Backlog = wrap(p.release.Backlog)
}

// Map gives a queue a mapping with so many processes.
func Map(m *model.Model, q *model.Queue, processes int, rules deliver.Rules, seed uint64) *model.Mapping {
	var workers []model.Worker
	for n := range processes {
		random := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // figures that can be repeated
		workers = append(workers, OnModel(m, fmt.Sprintf("%s %d", q.Name, n), rules, random))
	}
	return m.Map(q, workers)
}

// Batch processes messages of a queue. The ones that the handler returns are not deleted.
func (p *Process) Batch(from *model.Queue, records []events.SQSMessage) {
	do := p.deliver.Process
	if from == p.model.DeadLetterQueue {
		do = p.deadletter.Process
	}
	var failed []string
	p.From = from
	p.Invoke(model.DeliverTimeout, func(ctx context.Context) { failed = do(ctx, records) }, func() {
		for _, r := range records {
			if !slices.Contains(failed, r.MessageId) {
				from.Delete(r.ReceiptHandle)
			}
		}
	})
}

// Receive processes one batch of a queue, if there is anything to receive.
func (p *Process) Receive(from *model.Queue) {
	p.model.Mu.Lock()
	records := from.Receive()
	p.model.Mu.Unlock()
	if len(records) > 0 {
		p.Batch(from, records)
	}
}

// Onward are the queues that deliver sends to, by the queue that it received from. There is no way back: a chain of its
// invocations ends after three.
var Onward = map[string][]string{
	"DeliveryQueue": {"RetryQueue", "SlowQueue", "DeadLetterQueue"},
	"RetryQueue":    {"SlowQueue", "DeadLetterQueue"},
	"SlowQueue":     {"DeadLetterQueue"},
}

// Release is a run of release.
func (p *Process) Release() {
	p.From = nil
	p.Invoke(model.ReleaseTimeout, func(ctx context.Context) {
		_ = p.release.Run(ctx) // its error is an alarm's
	}, func() {})
}

// Control asks the function control; it returns the answer as it is.
func (p *Process) Control(payload []byte) (answer []byte, err error) {
	p.Invoke(model.DeliverTimeout, func(ctx context.Context) {
		answer, err = p.control.Function().Invoke(ctx, payload)
	}, func() {})
	return answer, err
}

// noJobs wakes no function.
func noJobs(context.Context) error { return nil }
