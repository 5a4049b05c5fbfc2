package parallel

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEach_keepsEveryErrorWithItsIndex(t *testing.T) {
	errOne, errThree := errors.New("one"), errors.New("three")
	got := Each(4, 2, func(i int) error { return map[int]error{1: errOne, 3: errThree}[i] })
	if diff := cmp.Diff([]error{nil, errOne, nil, errThree}, got, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEach_isolatesAPanic(t *testing.T) {
	errs := Each(3, 3, func(i int) error {
		if i == 1 {
			panic("boom")
		}
		return nil
	})
	var panicked *Panic
	if !errors.As(errs[1], &panicked) {
		t.Fatalf("the panic became %v", errs[1])
	}
	if panicked.Value != "boom" || len(panicked.Stack) == 0 {
		t.Errorf("panic with %v, stack of %d bytes", panicked.Value, len(panicked.Stack))
	}
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("the others fail: %v", errs)
	}
}

func TestEach_runsAtMostTheLimitAtOnceAndReturnsWhenAllHaveEnded(t *testing.T) {
	for name, row := range map[string]struct {
		limit int
		most  int
		took  time.Duration
	}{
		"one at a time":          {1, 1, 20 * time.Second},
		"four":                   {4, 4, 5 * time.Second},
		"more than there are":    {99, 20, time.Second},
		"no limit that makes it": {0, 1, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				running, most := 0, 0
				count := func(change int) {
					mu.Lock()
					defer mu.Unlock()
					running += change
					most = max(most, running)
				}
				started := time.Now()
				Each(20, row.limit, func(int) error {
					count(1)
					defer count(-1)
					time.Sleep(time.Second)
					return nil
				})
				if most != row.most || time.Since(started) != row.took {
					t.Errorf("%d at once for %s, want %d for %s", most, time.Since(started), row.most, row.took)
				}
			})
		})
	}
}

func TestDeadline_keepsAReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ctx, cancel := Deadline(parent, 2*time.Second)
		defer cancel()
		time.Sleep(8 * time.Second)
		synctest.Wait()
		if ctx.Err() == nil || parent.Err() != nil {
			t.Errorf("after 8 s: %v, invocation %v", ctx.Err(), parent.Err())
		}
	})
}

func TestDeadline_withoutADeadlineEndsWithItsParent(t *testing.T) {
	parent, end := context.WithCancel(t.Context())
	ctx, cancel := Deadline(parent, time.Second)
	defer cancel()
	if deadline, ok := ctx.Deadline(); ok {
		t.Errorf("deadline %s", deadline)
	}
	if end(); ctx.Err() == nil {
		t.Error("it outlives its parent")
	}
}
