package simulate

import (
	"slices"
	"time"
)

// histogram counts durations, exactly where it matters: in steps of 10 ms up to a minute.
type histogram struct {
	counts []int
	n      int
	max    time.Duration
}

const step = 10 * time.Millisecond

func (h *histogram) add(d time.Duration) {
	if h.counts == nil {
		h.counts = make([]int, time.Minute/step+1)
	}
	h.counts[min(max(d, 0)/step, time.Minute/step)]++
	h.n++
	h.max = max(h.max, d)
}

// quantile is an upper bound of the share q of all, the largest of all beyond a minute.
func (h *histogram) quantile(q float64) time.Duration {
	seen := 0
	at := slices.IndexFunc(h.counts, func(n int) bool {
		seen += n
		return float64(seen) >= q*float64(h.n)
	})
	if at < 0 {
		return 0
	}
	if at == len(h.counts)-1 {
		return h.max
	}
	return min(time.Duration(at+1)*step, h.max)
}
