//go:build emulator

package e2e

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

// BenchmarkAKeyBesideABusyOne reports the 50th and 99th percentile of one key's requests, alone and while another key
// makes 1,000, two at a time: most of those are refused. The emulator answers one request after the other.
func BenchmarkAKeyBesideABusyOne(b *testing.B) {
	quiet, busy := holder(b), holder(b)
	for b.Loop() {
		alone := latencies(b, quiet, 130, 40*time.Millisecond)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { latencies(b, busy, 500, 0) })
		}
		beside := latencies(b, quiet, 130, 40*time.Millisecond)
		all.Wait()
		for name, p := range map[string]int{"p50": 50, "p99": 99} {
			was, is := alone[len(alone)*p/100], beside[len(beside)*p/100]
			b.ReportMetric(float64(was.Microseconds())/1000, "ms-alone-"+name)
			b.ReportMetric(float64(is.Microseconds())/1000, "ms-beside-"+name)
			b.ReportMetric(float64(is)/float64(was), "x-"+name)
		}
	}
}

// holder is a new tenant with a key, which has been used once.
func holder(b *testing.B) *client.Client {
	b.Helper()
	id := unique("tenant")
	key, err := operator.IssueKey(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	c := operator.As(id, key)
	latencies(b, c, 1, 0)
	return c
}

// latencies makes n requests, each so long after the one before, and sorts the times that they take.
func latencies(b *testing.B, c *client.Client, n int, every time.Duration) []time.Duration {
	b.Helper()
	var all []time.Duration
	for range n {
		began := time.Now()
		status, err := c.API(context.Background(), http.MethodGet, "/v1/webhooks/event-types", nil, nil)
		if err != nil || status != http.StatusOK && status != http.StatusTooManyRequests {
			b.Errorf("answer %d, %v", status, err)
		}
		all = append(all, time.Since(began))
		time.Sleep(every)
	}
	slices.Sort(all)
	return all
}
