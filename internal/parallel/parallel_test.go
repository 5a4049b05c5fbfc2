package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEachIsolatesPanicsAndBoundsConcurrency(t *testing.T) {
	var running, most atomic.Int32
	fault := errors.New("fault")
	errs := Each(20, 4, func(i int) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		time.Sleep(time.Millisecond)
		switch i {
		case 3:
			panic("boom")
		case 5:
			return fault
		}
		return nil
	})
	var panicked *Panic
	for i, err := range errs {
		switch {
		case i == 3 && (!errors.As(err, &panicked) || panicked.Value != "boom" || len(panicked.Stack) == 0):
			t.Errorf("panic became %v", err)
		case i == 5 && !errors.Is(err, fault), i != 3 && i != 5 && err != nil:
			t.Errorf("record %d: %v", i, err)
		}
	}
	if most.Load() > 4 {
		t.Errorf("%d at once, want at most 4", most.Load())
	}
}

func TestDeadlineKeepsAReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ctx, cancel := Deadline(parent, 2*time.Second)
		defer cancel()
		time.Sleep(8 * time.Second)
		synctest.Wait()
		if ctx.Err() == nil || parent.Err() != nil {
			t.Errorf("after 8 s: work %v, invocation %v", ctx.Err(), parent.Err())
		}
	})
}
