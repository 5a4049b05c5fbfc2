package dynamo

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

// sharded is a query of a list in an index. A list that is too busy for one partition has a partition for each shard.
// Any other list has one partition. A delivery is in the same shard of each list as in Backlog.
type sharded struct {
	// query has the condition isPartition. Its limit is the size of a shard's page.
	query

	// key names the attributes of the list's keys.
	key shardKey

	// partitions are the values of :partition in the condition.
	partitions []string
}

// isPartition is the condition of a sharded query.
func (k shardKey) isPartition() string { return "#" + k.hash + " = :partition" }

// shardsOf are the partitions of a list.
func shardsOf(list string) []string {
	names := make([]string, backlog.Shards)
	for shard := range names {
		names[shard] = shardName(list, shard)
	}
	return names
}

// perShard is the size of a shard's page for a page of the list with limit items. It is twice the shard's share, so
// that a second read is rare.
func perShard(limit, shards int) int {
	if shards == 1 {
		return limit
	}
	return max(1, 2*limit/shards)
}

// of is the query of one partition.
func (s sharded) of(n int) query {
	q := s.query
	q.values = given{":partition": s.partitions[n]}
	maps.Copy(q.values, s.values)
	return q
}

// listSharded returns a page of a list, with the items of all partitions in order. After so many rounds of reads it
// returns the items found so far. With 0 rounds, every page before the last is full. next is "" after the last page.
func (t table) listSharded(
	ctx context.Context, s sharded, limit, rounds int, cursor string,
) (items []attributes, next string, err error) {
	shards, err := s.decode(cursor)
	if err != nil {
		return nil, "", err
	}
	list := merge{shards: shards, key: s.key, backwards: s.backwards}
	list.read = func(ctx context.Context, n int, start attributes) ([]attributes, attributes, error) {
		q := s.of(n)
		q.start = start
		return t.query(ctx, q)
	}
	items, err = list.take(ctx, limit, rounds)
	if err != nil {
		return nil, "", err
	}
	return items, s.encode(list.shards), nil
}

// countSharded counts the items of all partitions.
func (t table) countSharded(ctx context.Context, s sharded) (n int, err error) {
	counts := make([]int, len(s.partitions))
	errs := parallel.Each(len(counts), len(counts), func(i int) (err error) {
		counts[i], err = t.count(ctx, s.of(i))
		return err
	})
	for _, one := range counts {
		n += one
	}
	return n, errors.Join(errs...)
}

// ended stands in a cursor for a shard that has been read to its end.
const ended = "-"

// encode makes the cursor of a list. For each shard that was begun, the cursor has the sort key and the id behind which
// the next read of the shard begins. The cursor is "" if all shards are at their ends.
func (s sharded) encode(shards []readAhead) string {
	starts, left := attributes{}, false
	for n, one := range shards {
		switch {
		case one.ended():
			starts[strconv.Itoa(n)] = str(ended)
			continue
		case len(one.returned) > 0:
			starts[strconv.Itoa(n)] = str(getStr(one.returned, s.key.sort) + " " + getStr(one.returned, s.key.id))
		}
		left = true
	}
	if !left {
		return ""
	}
	return encodeCursor(starts)
}

// decode is the reverse of encode. The shards that it returns have nothing read ahead.
func (s sharded) decode(cursor string) ([]readAhead, error) {
	starts, err := decodeCursor(cursor)
	if err != nil {
		return nil, err
	}
	shards := make([]readAhead, len(s.partitions))
	for name := range starts {
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 || n >= len(shards) {
			return nil, ErrCursor
		}
		start := getStr(starts, name)
		if start == ended {
			shards[n].over = true
			continue
		}
		sort, id, ok := strings.Cut(start, " ")
		if !ok {
			return nil, ErrCursor
		}
		shards[n].returned = attributes{s.key.hash: str(s.partitions[n]), s.key.sort: str(sort), s.key.id: str(id)}
	}
	return shards, nil
}
