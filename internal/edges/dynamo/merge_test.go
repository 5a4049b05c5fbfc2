package dynamo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
)

var testKey = shardKey{hash: "shard", sort: "at", id: "delivery_id"}

// entry is an item of a shard, in order. Of a filtered list some are not selected.
type entry struct {
	at, id   string
	selected bool
}

// partitioned is a list in shards, as an index keeps it.
type partitioned struct {
	shards    [backlog.Shards][]entry
	backwards bool
	page      int // items that a read looks at
	looked    *atomic.Int64
}

// drawPartitioned has few times, so that many items share one, and shards of any size. times are those of the items
// that are selected, in order.
func drawPartitioned(t *rapid.T) (list partitioned, times []string) {
	list = partitioned{
		backwards: rapid.Bool().Draw(t, "backwards"), page: rapid.IntRange(1, 5).Draw(t, "page"), looked: &atomic.Int64{},
	}
	for n := range rapid.IntRange(0, 60).Draw(t, "items") {
		one := entry{
			at: fmt.Sprintf("%02d", rapid.IntRange(0, 20).Draw(t, "at")), id: fmt.Sprint("msg_", n),
			selected: rapid.IntRange(0, 3).Draw(t, "selected") > 0,
		}
		shard := rapid.IntRange(0, backlog.Shards-1).Draw(t, "shard")
		list.shards[shard] = append(list.shards[shard], one)
		if one.selected {
			times = append(times, one.at)
		}
	}
	slices.Sort(times)
	for n := range list.shards {
		slices.SortStableFunc(list.shards[n], func(a, b entry) int { return strings.Compare(a.at, b.at) })
		if list.backwards {
			slices.Reverse(list.shards[n])
		}
	}
	if list.backwards {
		slices.Reverse(times)
	}
	return list, times
}

// read answers as a filtered Query does: it looks at a page and says where it ended, even if it has selected nothing
// and even if nothing is left.
func (p partitioned) read(
	_ context.Context, shard int, start attributes,
) (items []attributes, last attributes, err error) {
	left := p.shards[shard]
	if id := getStr(start, testKey.id); id != "" {
		left = left[1+slices.IndexFunc(left, func(one entry) bool { return one.id == id }):]
	}
	page := left[:min(len(left), p.page)]
	p.looked.Add(int64(len(page)))
	for _, one := range page {
		item := attributes{testKey.hash: str(shardName("list", shard)), testKey.sort: str(one.at), testKey.id: str(one.id)}
		if one.selected {
			items = append(items, item)
		}
		if len(page) == p.page {
			last = item
		}
	}
	return items, last, nil
}

// walk reads the list page by page, each from the cursor of the one before, and checks that each brings it further.
func (p partitioned) walk(t *rapid.T, limit, rounds int) (ids, times []string) {
	of := sharded{key: testKey, partitions: shardsOf("list")}
	for cursor := ""; ; {
		shards, err := of.decode(cursor)
		if err != nil {
			t.Fatal(err)
		}
		m := merge{shards: shards, key: testKey, backwards: p.backwards, read: p.read}
		items, err := m.take(t.Context(), limit, rounds)
		if err != nil || len(items) > limit {
			t.Fatalf("%d items, %v", len(items), err)
		}
		for _, item := range items {
			ids, times = append(ids, getStr(item, testKey.id)), append(times, getStr(item, testKey.sort))
		}
		switch next := of.encode(m.shards); {
		case next == "":
			return ids, times
		case next == cursor:
			t.Fatalf("it goes on where it was: %s", next)
		case rounds == 0 && len(items) < limit:
			t.Fatalf("a page of %d of %d is not the last", len(items), limit)
		default:
			cursor = next
		}
	}
}

// Whatever the pages, and however few are selected, the list has each item once, in order.
func TestMerge_take_isOneList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, want := drawPartitioned(t)
		ids, got := list.walk(t, rapid.IntRange(1, 20).Draw(t, "limit"), rapid.IntRange(0, 3).Draw(t, "rounds"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		slices.Sort(ids)
		if n := len(slices.Compact(ids)); n != len(want) {
			t.Fatalf("%d different ones of %d", n, len(want))
		}
	})
}

// A page looks at each item once, however few are selected.
func TestMerge_take_looksAtEachItemOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, _ := drawPartitioned(t)
		items := slices.Concat(list.shards[:]...)
		list.walk(t, len(items)+1, 0)
		if looked := int(list.looked.Load()); looked != len(items) {
			t.Fatalf("it looked at %d of %d", looked, len(items))
		}
	})
}

// A shard that cannot be read is not an empty one.
func TestMerge_take_failsWithAShard(t *testing.T) {
	broken := errors.New("throttled")
	list := merge{shards: make([]readAhead, 3), key: testKey}
	list.read = func(_ context.Context, shard int, _ attributes) ([]attributes, attributes, error) {
		if shard == 1 {
			return nil, nil, broken
		}
		return []attributes{{testKey.sort: str("01")}}, nil, nil
	}
	if items, err := list.take(t.Context(), 1, 0); !errors.Is(err, broken) || len(items) > 0 {
		t.Errorf("%v, %v", items, err)
	}
}

func TestSharded_decode_refusesStrangeCursors(t *testing.T) {
	list := sharded{key: testKey, partitions: shardsOf("list")}
	for name, places := range map[string]attributes{
		"a key":              {"delivery_id": str("msg_1"), "at": str("01")},
		"a shard too many":   {fmt.Sprint(backlog.Shards): str("01 msg_1")},
		"a shard before all": {"-1": str("01 msg_1")},
		"a place without id": {"0": str("01")},
	} {
		if _, err := list.decode(encodeCursor(places)); !errors.Is(err, ErrCursor) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
