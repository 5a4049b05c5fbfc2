package invariants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	handledead "github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/telemetry"
)

// verdict is what becomes of a call.
type verdict int

const (
	done       verdict = iota
	refused            // nothing happens, and the caller hears so
	partly             // every other item is taken
	lost               // it happens, and the caller hears that it did not
	late               // it happens after the caller has given up
	stalled            // nothing happens, and no answer comes
	stalledBut         // it happens, and no answer comes
	crashed            // the process ends before it
	crashedBut         // the process ends behind it
)

func (v verdict) String() string {
	return [...]string{
		"done", "refused", "partly", "lost", "late", "stalled", "done and stalled", "crashed before", "crashed after",
	}[v]
}

// faults are all that can happen to a call but that it is done.
var faults = []verdict{refused, partly, lost, late, stalled, stalledBut, crashed, crashedBut}

// lateness is when what is late happens: behind the end of every batch that knew of it.
const lateness = 45 * time.Second

// call is one call of AWS, or a POST, of one process.
type call struct {
	process *process
	name    string
	key     string
	number  int // of those with this name and key, from 0
	ctx     context.Context
	grant   chan verdict
}

func (c *call) String() string {
	return fmt.Sprintf("%s %s(%s)#%d", c.process.name, c.name, c.key, c.number)
}

// process is one execution environment of a function, from invocation to invocation until it ends.
type process struct {
	*world
	name     string
	mine     sync.Mutex
	dead     bool
	deadline time.Time
	numbers  map[string]int

	deliver    *deliver.Handler
	release    *release.Handler
	deadletter *handledead.Handler
}

var (
	errAWS  = errors.New("ThrottlingException")
	errDead = errors.New("the process has ended")
)

func (w *world) process(name string, random *rand.Rand) *process {
	p := &process{world: w, name: name, numbers: map[string]int{}}
	a := aws{p}
	metrics := func(of string) *telemetry.Metrics { return telemetry.NewMetrics(io.Discard, "test", of, time.Now) }
	log := slog.New(slog.DiscardHandler)
	number := func() float64 {
		p.mine.Lock()
		defer p.mine.Unlock()
		return random.Float64()
	}
	p.deliver = &deliver.Handler{
		Endpoints: behind{a}, Secrets: a, States: a, Health: a, Backlog: a,
		RetryQueue: sender{p, w.retries}, DeadLetterQueue: sender{p, w.dead}, Visibility: a, RetryQueueARN: w.retries.name,
		Attempts: delivery.Sender{Client: a, UserAgent: "Herald/test", Now: time.Now},
		Schedule: schedule, Thresholds: w.settings, PerEndpoint: 10, Log: log, Metrics: metrics("deliver"),
		Now: time.Now, Random: number,
		Slow: &deliver.SlowLane{
			Notes: a, Suspect: hangs / 10, Timeout: hangs,
			Settings: health.SlowSettings{Self: name, Limit: 2, Wait: time.Minute, Longest: time.Hour},
		},
	}
	p.release = &release.Handler{
		Due: a, Shards: a, Changes: a, Health: a, Endpoints: a, States: a,
		RetryQueue: sender{p, w.retries}, DeadLetterQueue: sender{p, w.dead},
		Thresholds: w.settings, Log: log, Metrics: metrics("release"), Now: time.Now, Random: number,
	}
	p.deadletter = &handledead.Handler{
		States: a, Store: a, Vault: deadletter.Vault{Keys: a, Random: zeros{}}, MaxRetries: schedule.MaxRetries,
		Log: log, Metrics: metrics("deadletter"), Now: time.Now,
	}
	return p
}

// ended reports whether the process is gone, which it is at the deadline of its invocation.
func (p *process) ended() bool {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.dead = p.dead || !time.Now().Before(p.deadline)
	return p.dead
}

// revive makes it another process of the same name.
func (p *process) revive() {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.dead = false
}

func (p *process) end() {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.dead = true
}

// one is a call with one effect.
func (p *process) one(ctx context.Context, name, key string, effect func()) error {
	return p.many(ctx, name, key, 1, func(int) { effect() })[0]
}

// many is a call with an effect for each of its items. The answer has one error per item.
func (p *process) many(ctx context.Context, name, key string, n int, effect func(i int)) []error {
	w := p.world
	answer := func(err error) []error { return slices.Repeat([]error{err}, n) }
	if p.ended() {
		return answer(errDead)
	}
	if err := ctx.Err(); err != nil {
		return answer(err)
	}
	c := p.number(ctx, name, key)
	v := w.verdictOn(c)
	if p.ended() {
		return answer(errDead)
	}
	if err := ctx.Err(); err != nil && v == done {
		return answer(err)
	}
	all := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i := range n {
			effect(i)
		}
		if takesAway(name) {
			w.check()
		}
	}
	if v != done {
		w.mu.Lock()
		w.note("%s: %s", c, v)
		w.mu.Unlock()
	}
	switch v {
	case done:
		all()
		return answer(nil)
	case partly:
		errs := answer(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		for i := range n {
			if i%2 == 0 {
				errs[i] = errAWS
				continue
			}
			effect(i)
		}
		w.check()
		return errs
	case lost:
		all()
	case late:
		w.mu.Lock()
		w.late = append(w.late, time.Now().Add(lateness))
		w.mu.Unlock()
		time.AfterFunc(lateness, all)
	case stalledBut:
		all()
		return answer(p.stall(ctx))
	case stalled:
		return answer(p.stall(ctx))
	case crashed:
		p.end()
		return answer(errDead)
	case crashedBut:
		all()
		p.end()
		return answer(errDead)
	}
	return answer(errAWS)
}

// takesAway reports whether a call can leave a delivery nowhere.
func takesAway(name string) bool { return name == "answer" || name == "Delete Backlog" }

func (p *process) number(ctx context.Context, name, key string) *call {
	p.mine.Lock()
	defer p.mine.Unlock()
	c := &call{process: p, name: name, key: key, number: p.numbers[name+key], ctx: ctx, grant: make(chan verdict)}
	p.numbers[name+key]++
	return c
}

// stall waits for as long as the caller does, and for as long as its invocation may take.
func (p *process) stall(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(p.deadline)):
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errDead
}

// invoke runs one invocation. Its answer is a call, too: the process may end before it.
func (p *process) invoke(limit time.Duration, run func(ctx context.Context), answered func()) {
	p.deadline = time.Now().Add(limit)
	ctx, cancel := context.WithDeadline(context.Background(), p.deadline)
	defer cancel()
	run(ctx)
	_ = p.one(context.WithoutCancel(ctx), "answer", "", answered)
}

// batch receives from a queue and processes what was received. Only what is answered for is deleted.
func (p *process) batch(from *sqs, records []events.SQSMessage) {
	do := p.deliver.Process
	if from == p.world.dead {
		do = p.deadletter.Process
	}
	var failed []string
	p.invoke(timeout, func(ctx context.Context) { failed = do(ctx, records) }, func() {
		for _, r := range records {
			if !slices.Contains(failed, r.MessageId) {
				from.drop(r.MessageId)
			}
		}
	})
}

// tick is a run of release.
func (p *process) tick() {
	p.invoke(tickTime, func(ctx context.Context) { _ = p.release.Tick(ctx) }, func() {})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
