package awsmodel

import "time"

// Heap is a priority queue by time: first in, first out where times are equal. The zero Heap is
// empty.
type Heap[V any] struct {
	entries []entry[V]
	pushed  uint64
}

type entry[V any] struct {
	at    time.Duration
	order uint64
	value V
}

func (e entry[V]) before(o entry[V]) bool { return e.at < o.at || e.at == o.at && e.order < o.order }

// Len is how many values are in the heap.
func (h *Heap[V]) Len() int { return len(h.entries) }

// Next is the earliest time and its value. It must not be asked of an empty heap.
func (h *Heap[V]) Next() (time.Duration, V) { return h.entries[0].at, h.entries[0].value }

// Push adds a value.
func (h *Heap[V]) Push(at time.Duration, value V) {
	h.pushed++
	e := entry[V]{at, h.pushed, value}
	n := len(h.entries)
	h.entries = append(h.entries, e)
	for n > 0 {
		above := (n - 1) / 4
		if !e.before(h.entries[above]) {
			break
		}
		h.entries[n] = h.entries[above]
		n = above
	}
	h.entries[n] = e
}

// Pop removes the value of the earliest time.
func (h *Heap[V]) Pop() (time.Duration, V) {
	top := h.entries[0]
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries[last] = entry[V]{}
	h.entries = h.entries[:last]
	if last > 0 {
		h.sink(e)
	}
	return top.at, top.value
}

func (h *Heap[V]) sink(e entry[V]) {
	n := 0
	for {
		first := 4*n + 1
		if first >= len(h.entries) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h.entries)); c++ {
			if h.entries[c].before(h.entries[least]) {
				least = c
			}
		}
		if !h.entries[least].before(e) {
			break
		}
		h.entries[n] = h.entries[least]
		n = least
	}
	h.entries[n] = e
}

// ring is a queue of values that grows as it must.
type ring[V any] struct {
	values []V
	head   int
	n      int
}

func (r *ring[V]) push(v V) {
	if r.n == len(r.values) {
		grown := make([]V, max(64, 2*r.n))
		for i := range r.n {
			grown[i] = r.values[(r.head+i)%len(r.values)]
		}
		r.values, r.head = grown, 0
	}
	at := r.head + r.n
	if at >= len(r.values) {
		at -= len(r.values)
	}
	r.values[at] = v
	r.n++
}

func (r *ring[V]) front() V { return r.values[r.head] }

func (r *ring[V]) pop() V {
	v := r.values[r.head]
	if r.head++; r.head == len(r.values) {
		r.head = 0
	}
	r.n--
	return v
}
