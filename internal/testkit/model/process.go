package model

import (
	"context"
	"sync"
	"time"
)

// Process is an execution environment of a function, from invocation to invocation until it ends. The stores and
// queues that it calls are its methods. It is used by one invocation at a time.
type Process struct {
	Name  string
	From  *Queue // of the batch in hand; nil: none
	model *Model

	mine     sync.Mutex
	ended    bool
	deadline time.Time
	numbers  map[string]int // of calls, by name and key; only with a judge
}

// Process starts one.
func (m *Model) Process(name string) *Process {
	return &Process{Name: name, model: m, numbers: map[string]int{}}
}

// Ended reports whether the process is gone, which it is at the deadline of its invocation. Calls outside an invocation
// have none.
func (p *Process) Ended() bool {
	p.mine.Lock()
	defer p.mine.Unlock()
	p.ended = p.ended || !p.deadline.IsZero() && !time.Now().Before(p.deadline)
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

// stall waits for as long as the caller does, and for as long as its invocation may take. Outside an invocation the
// caller alone decides.
func (p *Process) stall(ctx context.Context) error {
	if deadline := p.Deadline(); deadline.IsZero() {
		<-ctx.Done()
	} else {
		wait(ctx, max(time.Until(deadline), time.Nanosecond))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errDead
}

// Invoke runs one invocation in a process. If the process has ended, it starts a new one of the same name. The answer
// is a call as well, so that the process may end before it.
func (p *Process) Invoke(limit time.Duration, run func(ctx context.Context), answered func()) {
	deadline := time.Now().Add(limit)
	p.begin(deadline)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	run(ctx)
	_ = p.one(context.WithoutCancel(ctx), "answer", "", answered) // a lost answer leaves the messages
}
