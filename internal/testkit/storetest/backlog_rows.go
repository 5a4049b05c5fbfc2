package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Traceparent is a publisher's.
const Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Waiting is the n-th item of an endpoint: created and due n seconds after a moment, and held where n is odd. Every
// third has a trace.
func Waiting(n int) backlog.Item {
	m := delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: fmt.Sprintf("msg_%03d", n), TenantID: "acme", EndpointID: "webhook_1", EventID: "e",
			OccurredAt: at.Add(-time.Minute), CreatedAt: at.Add(time.Duration(n) * time.Second), Replay: 1,
		},
		Body: []byte("{\"type\":\"user.created\",\"data\":\"\xff\"}"),
	}
	if n%3 == 1 {
		m.Trace = trace.ParseTraceparent(Traceparent)
	}
	move := delivery.Move{
		Attempts: 4, Due: at.Add(time.Duration(n) * time.Second), Held: n%2 == 1, NotBefore: at.Add(time.Minute),
		Life: delivery.Life{StartedAt: at, DueAt: at.Add(time.Hour), Reason: delivery.ReasonHTTP5xx, Status: 503},
	}
	return backlog.New(m, move, at, "random")
}

func putWaiting(t testing.TB, b Backend, n int) []backlog.Item {
	t.Helper()
	items := make([]backlog.Item, n)
	for i := range items {
		items[i] = Waiting(i)
	}
	put(t, b, items...)
	return items
}

func put(t testing.TB, b Backend, items ...backlog.Item) {
	t.Helper()
	if err := errors.Join(b.Backlog.Put(t.Context(), items)...); err != nil {
		t.Fatal(err)
	}
}

func keysOf(items []backlog.Item) []backlog.Key {
	var keys []backlog.Key
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	return keys
}

func byPosition(a, b backlog.Item) int { return strings.Compare(a.Position, b.Position) }

// wantWaiting reads everything that waits for the endpoint, by pages.
func wantWaiting(t testing.TB, b Backend, doing string, limit int, want []backlog.Item) {
	t.Helper()
	var all []backlog.Item
	for shard := range backlog.Shards {
		found := pages(t, limit, func(after string) ([]backlog.Item, string, error) {
			page, err := b.Backlog.ReadShard(t.Context(), "webhook_1", shard, after, limit)
			return page.Items, page.Next, err
		})
		if !slices.IsSortedFunc(found, byPosition) {
			t.Errorf("shard %d is not sorted by age", shard)
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, byPosition)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("%s (-want +got)\n%s", doing, diff)
	}
}
