package parallel

import (
	"runtime"
	"sync"
	"testing"
)

func TestWorkers_Go_runsAllAtOnceAndKeepsTheirGoroutines(t *testing.T) {
	const n = 20
	before := runtime.NumGoroutine()
	w := NewWorkers()
	for range 50 {
		var all, done sync.WaitGroup
		all.Add(n)
		done.Add(n)
		for range n {
			w.Go(func() {
				defer done.Done()
				all.Done()
				all.Wait() // for all the others
			})
		}
		done.Wait()
	}
	// One that has just ended its work may not wait for more yet when the next is given out.
	if kept := runtime.NumGoroutine() - before; kept < n || kept > 2*n {
		t.Errorf("%d goroutines for %d functions at once, 50 times", kept, n)
	}
}

func TestWorkers_Go_withoutWorkersRunsThemSideBySideToo(t *testing.T) {
	var w *Workers
	met := make(chan struct{})
	w.Go(func() { met <- struct{}{} })
	w.Go(func() { <-met })
	var done sync.WaitGroup
	done.Add(1)
	w.Go(done.Done)
	done.Wait()
}
