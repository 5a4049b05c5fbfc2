package awsmodel

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	Stalled            // nothing happens, and no answer comes
	StalledBut         // it happens, and no answer comes
	Crashed            // the process ends before it
	CrashedBut         // the process ends behind it
)

func (v Verdict) String() string {
	return [...]string{
		"done", "refused", "partly", "lost", "late", "stalled", "done and stalled", "crashed before", "crashed after",
	}[v]
}

// Faults are all verdicts but Done.
func Faults() []Verdict {
	return []Verdict{Refused, Partly, Lost, Late, Stalled, StalledBut, Crashed, CrashedBut}
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
	m := p.model
	if m.Judge != nil {
		return p.many(ctx, name, key, 1, func(int) { effect() })[0]
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Used.add(name, 1)
	effect()
	return nil
}

// many is a call with an effect for each of its items. The answer has one error for each.
func (p *Process) many(ctx context.Context, name, key string, n int, effect func(i int)) []error {
	m, errs := p.model, make([]error, n)
	all := func() {
		m.Mu.Lock()
		defer m.Mu.Unlock()
		m.Used.add(name, n)
		for i := range n {
			effect(i)
		}
		m.checkAfter(name)
	}
	if m.Judge == nil {
		if err := ctx.Err(); err != nil {
			return repeat(err, errs)
		}
		all()
		return errs
	}
	if p.Ended() {
		return repeat(errDead, errs)
	}
	if err := ctx.Err(); err != nil {
		return repeat(err, errs)
	}
	c := p.number(ctx, name, key)
	v := m.Judge(c)
	if p.Ended() {
		return repeat(errDead, errs)
	}
	if err := ctx.Err(); err != nil && v == Done {
		return repeat(err, errs)
	}
	if v == Partly {
		return p.partly(c, errs, effect)
	}
	return repeat(p.carry(c, v, all), errs)
}

// carry lets a call happen as the verdict says.
func (p *Process) carry(c *Call, v Verdict, all func()) error {
	if v != Done {
		p.model.tell(c, v)
	}
	switch v {
	case Done:
		all()
		return nil
	case Lost:
		all()
	case Late:
		time.AfterFunc(Lateness, all)
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
	case Refused, Partly:
	}
	return errAWS
}

func (p *Process) partly(c *Call, errs []error, effect func(i int)) []error {
	m := p.model
	m.tell(c, Partly)
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for i := range errs {
		if i%2 == 0 {
			errs[i] = errAWS
			continue
		}
		effect(i)
	}
	m.checkAfter(c.Name)
	return errs
}

func (m *Model) tell(c *Call, v Verdict) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.note("%s: %s", c, v)
}

// checkAfter calls Check after a call that can leave a delivery nowhere.
func (m *Model) checkAfter(name string) {
	if m.Check != nil && (name == "answer" || name == "Delete Backlog") {
		m.Check()
	}
}

func repeat(err error, errs []error) []error {
	if err == nil {
		return errs
	}
	return slices.Repeat([]error{err}, len(errs))
}

// asked is the result of a read. One that fails found nothing, also where it takes effect later.
func asked[T any](ctx context.Context, p *Process, name, key string, effect func() T) (found T, err error) {
	var got T
	if err := p.one(ctx, name, key, func() { got = effect() }); err != nil {
		return found, err
	}
	return got, nil
}
