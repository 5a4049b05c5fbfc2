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

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
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
	gone := append(slices.Clone(items[:31]), items[0], waiting(77)) // deleted twice, and never there
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

// Items that stay unprocessed are named with the others, which are worth having.
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

func TestBacklog_Count_tellsAFault(t *testing.T) {
	r := newRig(t)
	r.faults.On("Query", 0, testkit.Fail(400, "ResourceNotFoundException"))
	if _, err := r.backlog.Count(t.Context(), "webhook_1"); err == nil {
		t.Error("a count that failed is nothing")
	}
}
