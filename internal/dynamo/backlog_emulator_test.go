//go:build emulator

package dynamo_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// waiting is the n-th item of an endpoint: created and due n seconds after at.
func waiting(n int) backlog.Item {
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%03d", n), TenantID: "t", EndpointID: "webhook_1", EventID: "e",
			OccurredAt: at.Add(-time.Minute), CreatedAt: at.Add(time.Duration(n) * time.Second), Replay: 1,
		},
		Body: []byte(`{"type":"user.created","data":{}}`),
	}
	move := delivery.Move{
		Attempts: 4, Due: at.Add(time.Duration(n) * time.Second), Held: n%2 == 1, NotBefore: at.Add(time.Minute),
		Life: delivery.Life{StartedAt: at, DueAt: at.Add(time.Hour), Reason: delivery.ReasonHTTP5xx, Status: 503},
	}
	return backlog.New(m, move, at, "random")
}

func putWaiting(t *testing.T, s *dynamo.Backlog, n int) []backlog.Item {
	t.Helper()
	items := make([]backlog.Item, n)
	for i := range items {
		items[i] = waiting(i)
	}
	for i, err := range s.Put(t.Context(), items) {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	return items
}

func keysOf(items []backlog.Item) []backlog.Key {
	var keys []backlog.Key
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	return keys
}

func byPosition(a, b backlog.Item) int { return strings.Compare(a.Position, b.Position) }

// read returns everything that waits for the endpoint, by position.
func read(t *testing.T, s *dynamo.Backlog, limit int) []backlog.Item {
	t.Helper()
	var all []backlog.Item
	for shard := range backlog.Shards {
		found := pages(t, limit, func(after string) ([]backlog.Item, string, error) {
			page, err := s.ReadShard(t.Context(), "webhook_1", shard, after, limit)
			return page.Items, page.Next, err
		})
		if !slices.IsSortedFunc(found, byPosition) {
			t.Errorf("shard %d is not sorted by age", shard)
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, byPosition)
	return all
}

func TestBacklog_Put_readsBackWhole(t *testing.T) {
	s := newRig(t).backlog
	want := putWaiting(t, s, 60)
	if diff := cmp.Diff(want, read(t, s, 3)); diff != "" {
		t.Errorf("shards (-want +got)\n%s", diff)
	}
	page, err := s.BatchGet(t.Context(), append(keysOf(want), want[0].Key, waiting(99).Key))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(page.Items, byPosition)
	if diff := cmp.Diff(dynamo.Page{Items: want}, page); diff != "" {
		t.Errorf("by key (-want +got)\n%s", diff)
	}
}

func TestBacklog_Put_tellsWhichItemsAreNotStored(t *testing.T) {
	r := newRig(t)
	s, faults := r.backlog, r.faults
	items := make([]backlog.Item, 30)
	for i := range items {
		items[i] = waiting(i)
	}
	faults.Add(testkit.Rule{
		Action: "PutItem",
		When:   func(c testkit.Call) bool { return bytes.Contains(c.Body, []byte(items[7].Position)) },
		Fault:  testkit.Fail(400, "ResourceNotFoundException"),
	})
	var failed []int
	errs := s.Put(t.Context(), items)
	for n, err := range errs {
		if err != nil {
			failed = append(failed, n)
		}
	}
	if diff := cmp.Diff([]int{7}, failed); diff != "" {
		t.Errorf("%v (-want +got)\n%s", errs, diff)
	}
	if got := len(read(t, s, 10)); got != 29 {
		t.Errorf("%d are stored, want 29 of 30", got)
	}
}

func TestBacklog_Delete_namesExactlyTheItems(t *testing.T) {
	r := newRig(t)
	s, faults := r.backlog, r.faults
	items := putWaiting(t, s, 40)
	gone := append(keysOf(items[:31]), items[0].Key, waiting(77).Key) // deleted twice, and never there
	faults.Add(testkit.Rule{
		Action: "DeleteItem",
		When:   func(c testkit.Call) bool { return bytes.Contains(c.Body, []byte(items[30].Position)) },
		Fault:  testkit.Fail(400, "ResourceNotFoundException"),
	})
	for n, err := range s.Delete(t.Context(), gone) {
		if (err != nil) != (n == 30) {
			t.Error(n, err)
		}
	}
	if diff := cmp.Diff(items[30:], read(t, s, 100)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBacklog_BatchGet_asksAgainForTheRest(t *testing.T) {
	r := newRig(t)
	s, faults := r.backlog, r.faults
	items := putWaiting(t, s, 5)
	faults.On("BatchGetItem", 2, testkit.Unprocessed(1))
	page, err := s.BatchGet(t.Context(), keysOf(items))
	slices.SortFunc(page.Items, byPosition)
	if diff := cmp.Diff(dynamo.Page{Items: items}, page); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// Items that stay unprocessed are named beside the others, which are worth having.
func TestBacklog_BatchGet_returnsWhatItCouldRead(t *testing.T) {
	r := newRig(t)
	items := putWaiting(t, r.backlog, 5)
	r.faults.On("BatchGetItem", 1, testkit.Unprocessed(2))
	r.faults.On("BatchGetItem", 0, testkit.Unprocessed(0))
	page, err := r.backlog.BatchGet(t.Context(), keysOf(items))
	slices.SortFunc(page.Items, byPosition)
	want := dynamo.Page{Items: items[:2], Unread: keysOf(items[2:])}
	if diff := cmp.Diff(want, page); !errors.Is(err, dynamo.ErrUnprocessed) || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestBacklog_Due_listsWhatIsDueInOrder(t *testing.T) {
	s := newRig(t).backlog
	items := putWaiting(t, s, 60)
	var got []dynamo.Due
	for shard := range backlog.DueShards {
		found := pages(t, 2, func(cursor string) ([]dynamo.Due, string, error) {
			return s.Due(t.Context(), shard, at.Add(49*time.Second), 2, cursor)
		})
		if !slices.IsSortedFunc(found, func(a, b dynamo.Due) int { return a.DueAt.Compare(b.DueAt) }) {
			t.Errorf("due-shard %d is not sorted by time", shard)
		}
		got = append(got, found...)
	}
	var want []dynamo.Due
	for _, i := range items[:50] {
		want = append(want, dynamo.Due{Key: i.Key, TenantID: "t", DueAt: i.DueAt})
	}
	slices.SortFunc(got, func(a, b dynamo.Due) int { return a.DueAt.Compare(b.DueAt) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, _, err := s.Due(t.Context(), 0, at, 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
		t.Errorf("cursor: %v", err)
	}
}

func TestBacklog_PutBack_changesAnItemAndMakesNone(t *testing.T) {
	s := newRig(t).backlog
	items := putWaiting(t, s, 2)
	want := items[1].PutBack()
	if found, err := s.PutBack(t.Context(), want); err != nil || !found {
		t.Fatal(found, err)
	}
	if diff := cmp.Diff([]backlog.Item{items[0], want}, read(t, s, 10)); diff != "" || want.Held {
		t.Errorf("(-want +got)\n%s", diff)
	}
	due, _, err := s.Due(t.Context(), want.DueShard(), want.DueAt, 10, "")
	if err != nil || !slices.Contains(due, dynamo.Due{Key: want.Key, TenantID: "t", DueAt: want.DueAt}) {
		t.Errorf("due: %v, %v", due, err)
	}
	if found, err := s.PutBack(t.Context(), waiting(77)); err != nil || found {
		t.Errorf("%v, %v", found, err)
	}
	if left := read(t, s, 10); len(left) != 2 {
		t.Errorf("there are %d", len(left))
	}
}

func TestBacklog_Count_countsHeldItemsApart(t *testing.T) {
	r := newRig(t)
	s, faults := r.backlog, r.faults
	putWaiting(t, s, 40)
	got, err := s.Count(t.Context(), "webhook_1")
	if diff := cmp.Diff(dynamo.Waiting{Items: 40, Held: 20, Oldest: at}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err = s.Count(t.Context(), "another"); err != nil || got != (dynamo.Waiting{}) {
		t.Errorf("nothing waits: %+v, %v", got, err)
	}
	faults.On("Query", 0, testkit.Fail(400, "ResourceNotFoundException"))
	if _, err := s.Count(t.Context(), "webhook_1"); err == nil {
		t.Error("a count that failed is nothing")
	}
}

func TestBacklog_Count_endsAtAThousand(t *testing.T) {
	s := newRig(t).backlog
	putWaiting(t, s, 1010)
	got, err := s.Count(t.Context(), "webhook_1")
	if err != nil || got.Items != 1000 || !got.More || !got.Oldest.Equal(at) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBacklog_Total_countsAtLeastTheItemsThatItSees(t *testing.T) {
	s := newRig(t).backlog
	total, err := s.Total(t.Context(), 10)
	if diff := cmp.Diff(dynamo.Total{By: map[string]dynamo.Waiting{}}, total); err != nil || diff != "" {
		t.Errorf("nothing waits: %v (-want +got):\n%s", err, diff)
	}
	putWaiting(t, s, 60)
	total, err = s.Total(t.Context(), 60)
	by := map[string]dynamo.Waiting{"webhook_1": {Items: 60, Held: 30, Oldest: at}}
	if diff := cmp.Diff(dynamo.Total{Items: 60, Held: 30, NextDue: at, By: by}, total); err != nil || diff != "" {
		t.Errorf("all: %v (-want +got):\n%s", err, diff)
	}
	total, err = s.Total(t.Context(), 1)
	total.Held, total.By = 0, nil // as many as the shards' first items are
	if diff := cmp.Diff(dynamo.Total{Items: 16, More: true, NextDue: at}, total); err != nil || diff != "" {
		t.Errorf("one a shard: %v (-want +got):\n%s", err, diff)
	}
}

func TestBacklog_namesItemsOfALaterRelease(t *testing.T) {
	r := newRig(t)
	items := putWaiting(t, r.backlog, 1)
	key := items[0].Key
	r.breaks(r.tables.Backlog, "version",
		keyOf("endpoint_shard", fmt.Sprint("webhook_1#", key.Shard), "position", key.Position))
	want := dynamo.Page{Unreadable: keysOf(items)}
	page, err := r.backlog.ReadShard(t.Context(), "webhook_1", key.Shard, "", 10)
	if diff := cmp.Diff(want, page); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if page, err = r.backlog.BatchGet(t.Context(), keysOf(items)); err != nil || !cmp.Equal(want, page) {
		t.Errorf("%v (-want +got)\n%s", err, cmp.Diff(want, page))
	}
}
