package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Backlog is the store of deliveries that wait for long.
type Backlog interface {
	Put(ctx context.Context, items []backlog.Item) []error
	Delete(ctx context.Context, items []backlog.Item) []error
	PutBack(ctx context.Context, item backlog.Item) (found bool, err error)
	ReadShard(ctx context.Context, endpointID string, shard int, after string, limit int) (dynamo.Page, error)
	Due(
		ctx context.Context, dueShard int, until time.Time, limit int, cursor string,
	) (due []dynamo.Due, next string, err error)
	BatchGet(ctx context.Context, keys []backlog.Key) (dynamo.Page, error)
	Count(ctx context.Context, endpointID string) (dynamo.Waiting, error)
	Total(ctx context.Context, perShard int) (dynamo.Total, error)
}

var backlogPromises = []Promise{
	{"an item is read back whole, by shard and by key", func(t testing.TB, b Backend) {
		want := putWaiting(t, b, 60)
		wantWaiting(t, b, "by shard", 3, want)
		page, err := b.Backlog.BatchGet(t.Context(), append(keysOf(want), want[0].Key, Waiting(99).Key))
		slices.SortFunc(page.Items, byPosition)
		if diff := cmp.Diff(dynamo.Page{Items: want}, page); err != nil || diff != "" {
			t.Errorf("by key: %v (-want +got)\n%s", err, diff)
		}
	}},
	{"times of a life are kept to the millisecond", func(t testing.TB, b Backend) {
		i := Waiting(0)
		i.Message.Life.StartedAt, i.Message.Life.DueAt = at.Add(time.Microsecond), at.Add(time.Hour+time.Microsecond)
		want, err := delivery.DecodeLife(i.Message.Life.Encode())
		if err != nil {
			t.Fatal(err)
		}
		put(t, b, i)
		i.Message.Life = want
		wantWaiting(t, b, "read", 10, []backlog.Item{i})
	}},
	{"a shard is read behind a position", func(t testing.TB, b Backend) {
		var want []backlog.Item // one shard: the same delivery, replayed
		for n := range 5 {
			i := Waiting(0)
			i.Message.CreatedAt = at.Add(time.Duration(n) * time.Second)
			i = backlog.New(i.Message, delivery.Move{Due: at, Life: i.Message.Life}, at, "random")
			put(t, b, i)
			want = append(want, i)
		}
		for after, rest := range map[string][]backlog.Item{
			want[1].Position: want[2:], want[4].Position: nil, backlog.Before(at.Add(2 * time.Second)): want[2:],
		} {
			page, err := b.Backlog.ReadShard(t.Context(), "webhook_1", want[0].Shard, after, 10)
			if diff := cmp.Diff(rest, page.Items); err != nil || diff != "" {
				t.Errorf("behind %s: %v (-want +got)\n%s", after, err, diff)
			}
		}
	}},
	{"a put that is repeated makes no second item", func(t testing.TB, b Backend) {
		items := []backlog.Item{Waiting(0), Waiting(1)}
		again(t, b, func() error { return errors.Join(b.Backlog.Put(t.Context(), items)...) })
		wantWaiting(t, b, "put twice", 10, items)
	}},
	{"a put replaces the item that the rule says, and no other", func(t testing.TB, b Backend) {
		var was, next, want []backlog.Item
		for n, d := range []time.Duration{
			-9000 * time.Hour, -time.Minute, -time.Second, -time.Millisecond, 0, time.Millisecond, 10 * time.Millisecond,
			time.Second, time.Minute, 9000 * time.Hour,
		} {
			i := Waiting(n)
			was = append(was, i)
			i.StoredAt, i.Message.Attempts = i.StoredAt.Add(d), i.Message.Attempts+1
			next = append(next, i)
			if !i.Replaces(was[n]) {
				i = was[n]
			}
			want = append(want, i)
		}
		put(t, b, was...)
		for n, err := range b.Backlog.Put(t.Context(), next) {
			if next[n].Replaces(was[n]) && err != nil || !next[n].Replaces(was[n]) && !errors.Is(err, dynamo.ErrPutAgain) {
				t.Errorf("%s later: %v", next[n].StoredAt.Sub(was[n].StoredAt), err)
			}
		}
		wantWaiting(t, b, "put again", 100, want)
	}},
	{"exactly the named items are deleted, and what is gone is no error", func(t testing.TB, b Backend) {
		items := putWaiting(t, b, 40)
		gone := append(slices.Clone(items[:31]), items[0], Waiting(77)) // deleted twice, and never there
		again(t, b, func() error { return errors.Join(b.Backlog.Delete(t.Context(), gone)...) })
		wantWaiting(t, b, "left", 100, items[31:])
	}},
	{"an item that was put again since it was read stays", func(t testing.TB, b Backend) {
		read := putWaiting(t, b, 3)
		since := read[1]
		since.StoredAt = since.StoredAt.Add(time.Millisecond)
		put(t, b, since)
		errs := b.Backlog.Delete(t.Context(), slices.Clone(read))
		if errs[0] != nil || !errors.Is(errs[1], dynamo.ErrPutAgain) || errs[2] != nil {
			t.Errorf("deleted as they were read: %v", errs)
		}
		wantWaiting(t, b, "deleted as they were read", 10, []backlog.Item{since})
		found, err := b.Backlog.PutBack(t.Context(), since.PutBack())
		if err != nil || !found {
			t.Errorf("put back: %v, %v", found, err)
		}
		again(t, b, func() error { return errors.Join(b.Backlog.Delete(t.Context(), []backlog.Item{since})...) })
		wantWaiting(t, b, "put back and deleted", 10, nil)
	}},
	{"an item is put back and deleted as the rule says, and no other", func(t testing.TB, b Backend) {
		var stored, read, left []backlog.Item
		for n, d := range []time.Duration{-time.Minute, -time.Millisecond, 0, time.Millisecond, time.Minute} {
			i := Waiting(n)
			stored = append(stored, i)
			i.StoredAt = i.StoredAt.Add(d)
			read = append(read, i)
		}
		put(t, b, stored...)
		for n, i := range read {
			found, err := b.Backlog.PutBack(t.Context(), i.PutBack())
			if err != nil || found != i.SamePut(stored[n]) {
				t.Errorf("number %d is put back: %v, %v", n, found, err)
			}
			if i.SamePut(stored[n]) {
				stored[n] = stored[n].PutBack()
			} else {
				left = append(left, stored[n])
			}
		}
		wantWaiting(t, b, "put back", 10, stored)
		for n, err := range b.Backlog.Delete(t.Context(), slices.Clone(read)) {
			if errors.Is(err, dynamo.ErrPutAgain) == read[n].SamePut(stored[n]) {
				t.Errorf("number %d is deleted: %v", n, err)
			}
		}
		wantWaiting(t, b, "deleted", 10, left)
	}},
	{"an item is put back for its schedule, and none is made", func(t testing.TB, b Backend) {
		items := putWaiting(t, b, 2)
		want := items[1].PutBack()
		again(t, b, func() error {
			found, err := b.Backlog.PutBack(t.Context(), want)
			return applied(found, err)
		})
		wantWaiting(t, b, "put back", 10, []backlog.Item{items[0], want})
		due, _, err := b.Backlog.Due(t.Context(), want.DueShard(), want.DueAt, 10, "")
		if err != nil || !slices.Contains(due, dynamo.Due{Key: want.Key, TenantID: "acme", DueAt: want.DueAt}) {
			t.Errorf("due: %v, %v", due, err)
		}
		if found, err := b.Backlog.PutBack(t.Context(), Waiting(77)); err != nil || found {
			t.Errorf("what is not there: %v, %v", found, err)
		}
		wantWaiting(t, b, "what is not there", 10, []backlog.Item{items[0], want})
	}},
	{"what is due is listed in order, by pages", func(t testing.TB, b Backend) {
		items := putWaiting(t, b, 60)
		var got, want []dynamo.Due
		for shard := range backlog.DueShards {
			found := pages(t, 2, func(cursor string) ([]dynamo.Due, string, error) {
				return b.Backlog.Due(t.Context(), shard, at.Add(49*time.Second), 2, cursor)
			})
			if !slices.IsSortedFunc(found, func(a, b dynamo.Due) int { return a.DueAt.Compare(b.DueAt) }) {
				t.Errorf("due-shard %d is not sorted by time", shard)
			}
			got = append(got, found...)
		}
		for _, i := range items[:50] {
			want = append(want, dynamo.Due{Key: i.Key, TenantID: "acme", DueAt: i.DueAt, Held: i.Held})
		}
		slices.SortFunc(got, func(a, b dynamo.Due) int { return a.DueAt.Compare(b.DueAt) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if _, _, err := b.Backlog.Due(t.Context(), 0, at, 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
			t.Errorf("cursor: %v", err)
		}
	}},
	{"what is due tells what waits for its endpoint, and what no longer does", func(t testing.TB, b Backend) {
		scheduled := Waiting(0)
		held := Waiting(1)
		back := Waiting(3)
		put(t, b, scheduled, held, back)
		if found, err := b.Backlog.PutBack(t.Context(), back.PutBack()); err != nil || !found {
			t.Fatalf("put back: %v, %v", found, err)
		}
		got := map[backlog.Key]bool{}
		for shard := range backlog.DueShards {
			due, _, err := b.Backlog.Due(t.Context(), shard, at.Add(2*time.Hour), 10, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range due {
				got[one.Key] = one.Held
			}
		}
		want := map[backlog.Key]bool{scheduled.Key: false, held.Key: true, back.Key: false}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("held (-want +got)\n%s", diff)
		}
	}},
	{"items of a later release are named and left alone", func(t testing.TB, b Backend) {
		items := putWaiting(t, b, 1)
		b.Breaker.BreakWaiting(items[0].Key)
		want := dynamo.Page{Unreadable: keysOf(items)}
		page, err := b.Backlog.ReadShard(t.Context(), "webhook_1", items[0].Shard, "", 10)
		if diff := cmp.Diff(want, page); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		page, err = b.Backlog.BatchGet(t.Context(), keysOf(items))
		if diff := cmp.Diff(want, page); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}},
	{"an endpoint's items are counted, held ones apart, up to a thousand", func(t testing.TB, b Backend) {
		putWaiting(t, b, 40)
		got, err := b.Backlog.Count(t.Context(), "webhook_1")
		if diff := cmp.Diff(dynamo.Waiting{Items: 40, Held: 20, Oldest: at}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		got, err = b.Backlog.Count(t.Context(), "another")
		if err != nil || got != (dynamo.Waiting{}) {
			t.Errorf("nothing waits: %+v, %v", got, err)
		}
		putWaiting(t, b, 1010)
		got, err = b.Backlog.Count(t.Context(), "webhook_1")
		if err != nil || got.Items != 1000 || !got.More || !got.Oldest.Equal(at) {
			t.Errorf("%+v, %v", got, err)
		}
	}},
	{"all items are counted, by endpoint", func(t testing.TB, b Backend) {
		total, err := b.Backlog.Total(t.Context(), 10)
		if diff := cmp.Diff(dynamo.Total{By: map[string]dynamo.Waiting{}}, total); err != nil || diff != "" {
			t.Errorf("nothing waits: %v (-want +got):\n%s", err, diff)
		}
		putWaiting(t, b, 60)
		total, err = b.Backlog.Total(t.Context(), 60)
		by := map[string]dynamo.Waiting{"webhook_1": {Items: 60, Held: 30, Oldest: at}}
		want := dynamo.Total{Items: 60, Held: 30, NextDue: at, By: by}
		if diff := cmp.Diff(want, total); err != nil || diff != "" {
			t.Errorf("all: %v (-want +got):\n%s", err, diff)
		}
		total, err = b.Backlog.Total(t.Context(), 1)
		total.Held, total.By = 0, nil // as many as the shards' first items are
		if diff := cmp.Diff(dynamo.Total{Items: 16, More: true, NextDue: at}, total); err != nil || diff != "" {
			t.Errorf("one a shard: %v (-want +got):\n%s", err, diff)
		}
	}},
}
