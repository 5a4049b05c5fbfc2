package awsmodel

import (
	"context"
	cryptorand "crypto/rand"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/allowance"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/handler/control"
	handledead "github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/retry"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// DefaultRules are those that the template sets, for mappings with so many processes each.
func DefaultRules(processes int) deliver.Rules {
	return deliver.Rules{
		Schedule:  retry.Schedule{Base: 5 * time.Second, Factor: 4, MaxRetries: 9},
		Circuit:   circuit.New(time.Minute, 30*time.Second),
		Allowance: allowance.New(processes, AttemptTimeout), PerEndpoint: 10,
	}
}

// Process is an execution environment of each function, from invocation to invocation until it ends.
// It is used by one invocation at a time.
type Process struct {
	Name  string
	model *Model

	deliver    *deliver.Handler
	release    *release.Handler
	deadletter *handledead.Handler
	control    *control.Handler

	mine     sync.Mutex
	ended    bool
	deadline time.Time
	numbers  map[string]int // of calls, by name and key; only with a judge
}

// Process starts one. No two processes have the same time to the nanosecond.
func (m *Model) Process(name string, rules deliver.Rules, random *rand.Rand) *Process {
	p := &Process{Name: name, model: m, numbers: map[string]int{}}
	m.Mu.Lock()
	m.processes++
	skew := time.Duration(m.processes)
	m.Mu.Unlock()
	now := func() time.Time { return time.Now().Add(skew) }
	log := slog.New(slog.DiscardHandler)
	metrics := func(of string) *telemetry.Metrics { return telemetry.NewMetrics(io.Discard, "test", of, now) }
	number := func() float64 {
		p.mine.Lock()
		defer p.mine.Unlock()
		return random.Float64()
	}
	p.deliver = &deliver.Handler{
		Tables: deliver.Tables{
			Endpoints: reader{p, true}, Circuits: circuits{p}, Backlog: backlogTable{p}, Deliveries: deliveries{p},
		},
		Queues: deliver.Queues{
			Retry: sender{p, m.RetryQueue}, Slow: sender{p, m.SlowQueue}, DeadLetter: sender{p, m.DeadLetterQueue},
			Hide: map[delivery.Queue]deliver.Visibility{
				delivery.RetryQueue: hider{p, m.RetryQueue}, delivery.SlowQueue: hider{p, m.SlowQueue},
			},
			ARNs: map[string]delivery.Queue{
				m.RetryQueue.Name: delivery.RetryQueue, m.SlowQueue.Name: delivery.SlowQueue,
			},
		},
		Secrets: keys{p}, Sender: delivery.Sender{Client: poster{p}, UserAgent: "Herald/test", Now: now},
		Rules:  rules,
		Output: deliver.Output{Log: log, Metrics: metrics("deliver")}, Now: now, Random: number,
	}
	p.release = &release.Handler{
		Backlog: backlogTable{p}, Circuits: circuits{p}, Endpoints: reader{p, false}, Records: deliveries{p},
		RetryQueue: sender{p, m.RetryQueue}, DeadLetterQueue: sender{p, m.DeadLetterQueue}, Wake: noJobs,
		Settings: rules.Circuit, Schedule: rules.Schedule, Allowance: rules.Allowance,
		Log: log, Metrics: metrics("release"), Now: now, Random: number,
	}
	p.deadletter = &handledead.Handler{
		States: deliveries{p}, Store: deadLetters{p}, Vault: deadletter.Vault{Keys: keys{p}, Random: cryptorand.Reader},
		Log: log, Metrics: metrics("deadletter"), Now: now,
	}
	p.control = &control.Handler{
		Endpoints: rows{p}, Circuits: circuits{p}, Backlog: backlogTable{p}, Settings: rules.Circuit,
		Audit: audited{p}, Log: log, Now: now,
	}
	return p
}

// Ended reports whether the process is gone, which it is at the deadline of its invocation.
func (p *Process) Ended() bool {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.ended = p.ended || !time.Now().Before(p.deadline)
	return p.ended
}

// End ends the process in the middle of its invocation.
func (p *Process) End() {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.ended = true
}

func (p *Process) begin(deadline time.Time) {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.ended, p.deadline = false, deadline
}

// Deadline is the invocation's.
func (p *Process) Deadline() time.Time {
	p.mine.Lock()
	defer p.mine.Unlock()
	return p.deadline
}

func (p *Process) number(ctx context.Context, name, key string) *Call {
	p.mine.Lock()
	defer p.mine.Unlock()
	c := &Call{Process: p, Name: name, Key: key, Number: p.numbers[name+key], Context: ctx}
	p.numbers[name+key]++
	return c
}

// stall waits for as long as the caller does, and for as long as its invocation may take.
func (p *Process) stall(ctx context.Context) error {
	wait(ctx, max(time.Until(p.Deadline()), time.Nanosecond))
	if err := ctx.Err(); err != nil {
		return err
	}
	return errDead
}

// invoke runs one invocation in a process, a new one of the same name if the last has ended. Its answer
// is a call, too: the process may end before it.
func (p *Process) invoke(limit time.Duration, run func(ctx context.Context), answered func()) {
	deadline := time.Now().Add(limit)
	p.begin(deadline)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	run(ctx)
	_ = p.one(context.WithoutCancel(ctx), "answer", "", answered) // a lost answer leaves the messages
}

// Batch processes messages of a queue. The ones that the handler returns are not deleted.
func (p *Process) Batch(from *Queue, records []events.SQSMessage) {
	do := p.deliver.Process
	if from == p.model.DeadLetterQueue {
		do = p.deadletter.Process
	}
	var failed []string
	p.invoke(DeliverTimeout, func(ctx context.Context) { failed = do(ctx, records) }, func() {
		for _, r := range records {
			if !slices.Contains(failed, r.MessageId) {
				from.Delete(r.ReceiptHandle)
			}
		}
	})
}

// Receive processes one batch of a queue, if there is anything to receive.
func (p *Process) Receive(from *Queue) {
	p.model.Mu.Lock()
	records := from.Receive()
	p.model.Mu.Unlock()
	if len(records) > 0 {
		p.Batch(from, records)
	}
}

// Release is a run of release.
func (p *Process) Release() {
	p.invoke(ReleaseTimeout, func(ctx context.Context) {
		_ = p.release.Run(ctx) // its error is an alarm's
	}, func() {})
}

// Control asks the function control; it returns the answer as it is.
func (p *Process) Control(payload []byte) (answer []byte, err error) {
	p.invoke(DeliverTimeout, func(ctx context.Context) {
		answer, err = p.control.Function().Invoke(ctx, payload)
	}, func() {})
	return answer, err
}

// noJobs wakes nobody.
func noJobs(context.Context) error { return nil }
