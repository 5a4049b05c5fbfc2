package recent

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// pair is an entry of the model.
type pair struct{ Key, Value int }

// model is a memory as a list, the entry used last at its end.
type model struct {
	bound int
	pairs []pair
}

func (m *model) take(key int) (p pair, found bool) {
	at := slices.IndexFunc(m.pairs, func(p pair) bool { return p.Key == key })
	if at < 0 {
		return p, false
	}
	p = m.pairs[at]
	m.pairs = slices.Delete(m.pairs, at, at+1)
	return p, true
}

func (m *model) put(p pair) {
	m.take(p.Key)
	if len(m.pairs) == m.bound {
		m.pairs = m.pairs[1:]
	}
	m.pairs = append(m.pairs, p)
}

// held are the entries of a memory, the one used last at the end.
func held(m *Memory[int, int]) (pairs []pair) {
	for at := m.order.Back(); at != nil; at = at.Prev() {
		e := at.Value.(*entry[int, int])
		pairs = append(pairs, pair{e.key, e.value})
	}
	return pairs
}

// The memory holds the same as a plain list after any puts, gets and deletes in any order.
func TestMemory_holdsWhatWasUsedLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.IntRange(1, 6).Draw(t, "bound")
		m, want := Memory[int, int]{Bound: bound}, model{bound: bound}
		key := rapid.IntRange(0, 9)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				p := pair{key.Draw(t, "key"), rapid.Int().Draw(t, "value")}
				m.Put(p.Key, p.Value)
				want.put(p)
			},
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				value, found := m.Get(k)
				p, known := want.take(k)
				if known {
					want.pairs = append(want.pairs, p)
				}
				if value != p.Value || found != known {
					t.Errorf("%d is %d, %v, want %d, %v", k, value, found, p.Value, known)
				}
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				m.Delete(k)
				want.take(k)
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(want.pairs, held(&m), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("held (-want +got):\n%s", diff)
				}
				if m.Len() != len(want.pairs) || len(m.entries) != m.order.Len() || m.Len() > bound {
					t.Errorf("%d entries, %d in order, want %d", m.Len(), m.order.Len(), len(want.pairs))
				}
			},
		})
	})
}

// A flood of new keys takes nothing away from keys in use.
//
// Threat of a tenant: has processes forget others' entries. Held by: a new entry displaces the one used longest ago.
func TestMemory_keepsWhatIsInUseThroughAFlood(t *testing.T) {
	var m Memory[int, string] // with the default bound
	for n := range 10 * defaultBound {
		m.Put(n, "flood")
		m.Put(-1, "in use")
		if _, found := m.Get(-1); !found {
			t.Fatalf("forgotten after %d others", n)
		}
	}
	if m.Len() != defaultBound {
		t.Errorf("%d entries, want %d", m.Len(), defaultBound)
	}
}

func TestMemory_isSafeForConcurrentUse(t *testing.T) {
	m := Memory[int, int]{Bound: 3}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for n := range 500 {
				m.Put(n%7, g)
				if value, found := m.Get(n % 5); found && (value < 0 || value > 3) {
					t.Errorf("%d was never put", value)
				}
				m.Delete(n % 3)
			}
		})
	}
	wait.Wait()
	if m.Len() > 3 || m.Len() != m.order.Len() {
		t.Errorf("%d entries, %d in order", m.Len(), m.order.Len())
	}
}
