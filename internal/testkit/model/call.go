package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Verdict is the fate of a call.
type Verdict int

// The verdicts.
const (
	Done       Verdict = iota
	Refused            // nothing happens, and the caller hears so
	Partly             // every other item is taken
	Lost               // it happens, and the caller hears that it did not
	Late               // it happens after the caller has given up
	Twice              // it is lost, and happens once more after the caller has given up: the SDK had asked again
	Stalled            // nothing happens, and no answer comes
	StalledBut         // it happens, and no answer comes
	Crashed            // the process ends before it
	CrashedBut         // the process ends behind it
)

func (v Verdict) String() string {
	return [...]string{
		"done", "refused", "partly", "lost", "late", "twice", "stalled", "done and stalled", "crashed before",
		"crashed after",
	}[v]
}

// Faults are all verdicts but Done.
func Faults() []Verdict {
	return []Verdict{Refused, Partly, Lost, Late, Twice, Stalled, StalledBut, Crashed, CrashedBut}
}

// Call is one call of AWS, or a POST, of one process.
type Call struct {
	Process *Process
	Name    string
	Key     string
	Number  int // of the calls with this name and key, from 0
	Context context.Context
}

func (c *Call) String() string {
	return fmt.Sprintf("%s: %s(%s)#%d", c.Process.Name, c.Name, c.Key, c.Number)
}

var (
	errAWS  = errors.New("ThrottlingException")
	errDead = errors.New("the process has ended")
)

// one is a call with one effect, which runs under Mu.
func (p *Process) one(ctx context.Context, name, key string, effect func()) error {
	return p.many(ctx, name, key, 1, func(int) { effect() })[0]
}

// many is a call with an effect for each of its items. The answer has one error for each.
func (p *Process) many(ctx context.Context, name, key string, n int, effect func(i int)) []error {
	m, errs := p.model, make([]error, n)
	c, v, err := p.judge(ctx, name, key)
	leftOut := func(i int) bool { return v == Partly && i%2 == 0 }
	if err == nil {
		err = p.carry(c, v, func() {
			m.Mu.Lock()
			defer m.Mu.Unlock()
			m.Used.add(name, n)
			m.meddle(name, false)
			for i := range n {
				if !leftOut(i) {
					effect(i)
				}
			}
			m.meddle(name, true)
			m.Made(name, key)
			m.checkAfter(name)
		})
	}
	for i := range errs {
		if v != Partly || leftOut(i) {
			errs[i] = err
		}
	}
	return errs
}

// judge returns the call with its verdict, unless its process has ended or its caller has given up.
func (p *Process) judge(ctx context.Context, name, key string) (c *Call, v Verdict, err error) {
	if p.model.Judge == nil {
		return nil, Done, ctx.Err()
	}
	if p.Ended() {
		return nil, Done, errDead
	}
	if err := ctx.Err(); err != nil {
		return nil, Done, err
	}
	c = p.number(ctx, name, key)
	v = p.model.Judge(c)
	switch {
	case p.Ended():
		return nil, Done, errDead
	case v == Done:
		return c, Done, ctx.Err()
	}
	return c, v, nil
}

// carry lets a call happen as the verdict says.
func (p *Process) carry(c *Call, v Verdict, all func()) error {
	if m := p.model; v != Done {
		m.Mu.Lock()
		m.Note("%s: %s", c, v)
		m.Mu.Unlock()
	}
	switch v {
	case Done:
		all()
		return nil
	case Lost, Partly:
		all()
	case Late:
		time.AfterFunc(p.model.Lateness(c), all)
	case Twice:
		all()
		time.AfterFunc(p.model.Lateness(c), all)
	case StalledBut:
		all()
		return p.stall(c.Context)
	case Stalled:
		return p.stall(c.Context)
	case Crashed:
		p.End()
		return errDead
	case CrashedBut:
		all()
		p.End()
		return errDead
	case Refused:
	}
	return errAWS
}

// checkAfter calls Check after a call that can leave a delivery nowhere.
func (m *Model) checkAfter(name string) {
	if name == "answer" || name == "Delete Backlog" {
		m.Check()
	}
}

// asked is the result of a read. One that fails found nothing, also where it takes effect later.
func asked[T any](ctx context.Context, p *Process, name, key string, effect func() T) (found T, err error) {
	var got T
	if err := p.one(ctx, name, key, func() { got = effect() }); err != nil {
		return found, err
	}
	return got, nil
}
