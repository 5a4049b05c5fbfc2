// Package parallel runs the records of a batch side by side.
//
// It promises that one record cannot hurt another (a panic is the error of that record only),
// that no more run at once than asked for, and that all have ended when Each returns. It never
// keeps a goroutine.
package parallel

import (
	"context"
	"runtime/debug"
	"sync"
	"time"
)

// Panic is the error of a record after a panic in its work.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return "panic in a record" }

// Each runs do(0) … do(n-1) concurrently, at most limit at once, and returns their errors by
// index once all have returned. A panic becomes a *Panic.
func Each(n, limit int, do func(i int) error) []error {
	errs := make([]error, n)
	slots := make(chan struct{}, max(limit, 1))
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = Guard(func() error { return do(i) })
		})
	}
	wait.Wait()
	return errs
}

// Guard runs do and turns a panic into a *Panic.
func Guard(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return do()
}

// Deadline returns a context that ends reserve before ctx's own deadline, so that there is
// time left to record results and answer. Without a deadline it is ctx with a cancel.
func Deadline(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}
