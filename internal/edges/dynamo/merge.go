package dynamo

import (
	"context"
	"errors"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// merge reads the shards of a list as one list, in the order of the sort keys. Items with the same sort key come in the
// order of their shards.
type merge struct {
	shards    []readAhead
	key       shardKey
	backwards bool

	// read reads a page of a shard behind a key, and returns the key behind which the next one begins. A page may be
	// empty and not the last.
	read func(ctx context.Context, shard int, start attributes) (items []attributes, last attributes, err error)
}

// shardKey names the attributes of a key in an index. hash is the partition, sort the order in it, and id the key of
// the table.
type shardKey struct{ hash, sort, id string }

// of is the key of an item.
func (k shardKey) of(item attributes) attributes {
	return attributes{k.hash: item[k.hash], k.sort: item[k.sort], k.id: item[k.id]}
}

// readAhead is what was read of a shard ahead of the list.
type readAhead struct {
	// returned is the key of the last item that the list has returned; empty before the first item.
	returned attributes

	// ahead are the items behind that key that were read and not returned yet.
	ahead []attributes

	// last is the key behind ahead, where the next read of the shard begins.
	last attributes

	// over says that no item is behind ahead.
	over bool
}

// take returns the next items, at most limit. It returns fewer at the end of the list and after so many rounds of
// reads; 0 rounds stand for as many as needed. Each round brings the list forward, even if it finds no item.
func (m *merge) take(ctx context.Context, limit, rounds int) (items []attributes, err error) {
	for round := 0; len(items) < limit; {
		shard, known := m.next()
		switch {
		case shard < 0, !known && rounds > 0 && round == rounds:
			return items, nil
		case known:
			items = append(items, m.shards[shard].pop(m.key))
		default:
			if err := m.fill(ctx); err != nil {
				return nil, err
			}
			round++
		}
	}
	return items, nil
}

// next is the shard with the next item. If known is false, the shard only may have the next item and has to be read
// first. The shard is -1 at the end of the list.
func (m *merge) next() (shard int, known bool) {
	shard = -1
	for n, s := range m.shards {
		if s.ended() {
			continue
		}
		if shard < 0 || m.before(s.front(m.key), m.shards[shard].front(m.key)) {
			shard = n
		}
	}
	return shard, shard >= 0 && len(m.shards[shard].ahead) > 0
}

// before is the order of two sort keys. A shard that was never read comes before all others.
func (m *merge) before(a, b string) bool {
	if m.backwards && a != "" && b != "" {
		return a > b
	}
	return a < b
}

// fill reads a page of each shard without items ahead.
func (m *merge) fill(ctx context.Context) error {
	errs := parallel.Each(len(m.shards), len(m.shards), func(n int) (err error) {
		s := &m.shards[n]
		if len(s.ahead) > 0 || s.over {
			return nil
		}
		s.ahead, s.last, err = m.read(ctx, n, s.returned)
		s.over = err == nil && len(s.last) == 0
		if len(s.ahead) == 0 {
			s.returned = s.last
		}
		return err
	})
	return errors.Join(errs...)
}

func (s *readAhead) ended() bool { return s.over && len(s.ahead) == 0 }

// front is a lower bound for the sort keys of the shard's next items.
func (s *readAhead) front(key shardKey) string {
	if len(s.ahead) > 0 {
		return getStr(s.ahead[0], key.sort)
	}
	return getStr(s.returned, key.sort)
}

func (s *readAhead) pop(key shardKey) (item attributes) {
	item = s.ahead[0]
	s.ahead = s.ahead[1:]
	s.returned = key.of(item)
	if len(s.ahead) == 0 && !s.over {
		s.returned = s.last
	}
	return item
}
