// Package recent is a process's bounded memory between invocations.
//
// It promises that a memory never holds more entries than its bound, and that a new entry displaces at most one other,
// the one that was used longest ago. So a flood of new entries does not drive out the entries in use. It forgets
// nothing by time: a caller that needs the age of a value stores a time with it.
package recent

import (
	"container/list"
	"sync"
)

// defaultBound is the bound of a memory for which none was given.
const defaultBound = 1000

// Memory holds the entries that were used last. The zero Memory is empty and ready for use. It is safe for concurrent
// use; callers need a lock only around steps that belong together.
type Memory[K comparable, V any] struct {
	Bound int // the most entries that are held; 0: 1,000

	mu      sync.Mutex
	entries map[K]*list.Element
	order   list.List // of *entry[K, V], the one used last in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key. It counts as a use.
func (m *Memory[K, V]) Get(key K) (value V, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, found := m.entries[key]
	if !found {
		return value, false
	}
	m.order.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// Put stores the value of a key, in place of an older one.
func (m *Memory[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, found := m.entries[key]; found {
		at.Value.(*entry[K, V]).value = value
		m.order.MoveToFront(at)
		return
	}
	if m.entries == nil {
		m.entries = map[K]*list.Element{}
	}
	if len(m.entries) >= m.bound() {
		m.remove(m.order.Back())
	}
	m.entries[key] = m.order.PushFront(&entry[K, V]{key, value})
}

// Delete forgets a key.
func (m *Memory[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, found := m.entries[key]; found {
		m.remove(at)
	}
}

// Len is the number of entries.
func (m *Memory[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}

func (m *Memory[K, V]) remove(at *list.Element) {
	delete(m.entries, at.Value.(*entry[K, V]).key)
	m.order.Remove(at)
}

func (m *Memory[K, V]) bound() int {
	if m.Bound < 1 {
		return defaultBound
	}
	return m.Bound
}
