package main

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets of 3 %, from a millisecond to weeks.
type histogram struct {
	counts []uint64
	n      uint64
	max    time.Duration
}

const sub = 5 // bits: 32 buckets for each doubling

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	if h.counts == nil {
		h.counts = make([]uint64, 32<<sub)
	}
	h.counts[bucket(d)]++
	h.n++
	h.max = max(h.max, d)
}

func bucket(d time.Duration) int {
	ms := uint64(d / time.Millisecond) //nolint:gosec // not negative
	if ms < 1<<sub {
		return int(ms)
	}
	e := bits.Len64(ms) - sub - 1
	return min((e+1)<<sub+int(ms>>e)-1<<sub, 32<<sub-1) //nolint:gosec // as above
}

// upper is what everything in a bucket is below.
func upper(b int) time.Duration {
	if b < 1<<sub {
		return time.Duration(b+1) * time.Millisecond
	}
	e, rest := b>>sub-1, b&(1<<sub-1)
	return time.Duration((1<<sub+rest+1)<<e) * time.Millisecond
}

// quantile is an upper bound of the share q of all.
func (h *histogram) quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	want, seen := uint64(q*float64(h.n)), uint64(0)
	for b, n := range h.counts {
		if seen += n; seen > want || seen == h.n {
			return min(upper(b), h.max)
		}
	}
	return h.max
}
