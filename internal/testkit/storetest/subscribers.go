package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// asRow is an endpoint as a page of subscribers has it.
func asRow(e endpoint.Endpoint) dynamo.Subscriber {
	key := dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID}
	return dynamo.Subscriber{EndpointKey: key, Status: e.Status, Events: e.Events}
}

// byKey sorts subscribers, which have no order, and compares errors as callers do.
var byKey = cmp.Options{
	cmpopts.SortSlices(func(a, b dynamo.Subscriber) bool { return a.EndpointID < b.EndpointID }), cmpopts.EquateErrors(),
}

// showsSubscribers has live endpoints of many tenants beside rows that are none, and reads them page by page.
func showsSubscribers(t testing.TB, b Backend) {
	var live []dynamo.Subscriber
	for n := range 105 { // a call of DynamoDB reads 100 rows
		e := Endpoint(fmt.Sprint("tenant-", n%9), at.Add(time.Duration(n)*time.Second))
		if n%4 == 0 {
			e.Status = endpoint.Disabled
		}
		if err := b.Endpoints.Create(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		if n%6 == 1 {
			replace(t, b, e, gone(e, at.Add(time.Hour)))
			continue
		}
		live = append(live, asRow(e))
	}
	_, _, err := b.Endpoints.Mark(t.Context(), live[0].EndpointKey, func(m *endpoint.Marks) bool {
		m.PausedAt, m.PausedBy = at, "ann"
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := &live[len(live)-1]
	b.Breaker.BreakEndpoint(broken.EndpointKey)
	*broken = dynamo.Subscriber{EndpointKey: broken.EndpointKey, Err: endpoint.ErrUnreadable}
	active := slices.DeleteFunc(slices.Clone(live), func(s dynamo.Subscriber) bool { return s.Status != endpoint.Active })
	for _, limit := range []int{5, 100} {
		wantSubscribers(t, b, limit, live, func(dynamo.Subscriber) bool { return true })
		wantSubscribers(t, b, limit, active, func(s dynamo.Subscriber) bool { return s.Status == endpoint.Active })
	}
	_, _, err = b.Endpoints.Subscribers(t.Context(), func(dynamo.Subscriber) bool { return true }, 1, "garbage")
	if !errors.Is(err, dynamo.ErrCursor) {
		t.Errorf("%v, want that the cursor is refused", err)
	}
}

// wantSubscribers reads all pages of subscribers.
func wantSubscribers(
	t testing.TB, b Backend, limit int, want []dynamo.Subscriber, wanted func(dynamo.Subscriber) bool,
) {
	t.Helper()
	got := pages(t, limit, func(cursor string) ([]dynamo.Subscriber, string, error) {
		return b.Endpoints.Subscribers(t.Context(), wanted, limit, cursor)
	})
	if diff := cmp.Diff(want, got, byKey); diff != "" {
		t.Errorf("in pages of %d (-want +got):\n%s", limit, diff)
	}
}
