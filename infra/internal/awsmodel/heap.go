package awsmodel

import (
	"container/heap"
	"time"
)

// timer makes a message visible, unless the message has changed meanwhile.
type timer struct {
	at    time.Duration
	order int // of the pushes: first in, first out where times are equal
	slot  int32
	turn  uint32
}

// timers is a priority queue by time. The zero value is empty.
type timers struct {
	entries entries
	pushed  int
}

func (t *timers) empty() bool { return len(t.entries) == 0 }

func (t *timers) push(e timer) {
	t.pushed++
	e.order = t.pushed
	heap.Push(&t.entries, e)
}

func (t *timers) pop() timer { return heap.Pop(&t.entries).(timer) } //nolint:forcetypeassert // nothing else is pushed

// entries implements heap.Interface.
type entries []timer

func (e entries) Len() int      { return len(e) }
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(v any)   { *e = append(*e, v.(timer)) } //nolint:forcetypeassert // as above

func (e entries) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}

func (e *entries) Pop() any {
	last := len(*e) - 1
	t := (*e)[last]
	*e = (*e)[:last]
	return t
}
