package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Deliveries is the store of delivery states.
type Deliveries interface {
	Acknowledge(ctx context.Context, records []delivery.Record) error
	Update(ctx context.Context, r delivery.Record) (written bool, err error)
	Purged(ctx context.Context, r delivery.Record) error
	Get(ctx context.Context, deliveryID string) (r delivery.Record, found bool, err error)
	ListOpen(ctx context.Context, endpointID string, p dynamo.OpenPage) ([]delivery.Record, string, error)
	BatchGet(ctx context.Context, ids []string) (map[string]delivery.Record, error)
}

// State is a record of a delivery that has used so many places in a life.
func State(id string, s delivery.State, replay, attempts int) delivery.Record {
	return delivery.Record{
		Ref: delivery.Ref{
			DeliveryID: id, TenantID: "acme", EndpointID: "webhook_1", EventID: "e", OccurredAt: at.Add(-time.Minute),
			CreatedAt: at, Replay: replay,
		},
		EventType: "user.created", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", State: s, Attempts: attempts,
		LastStatus: 503, Reason: delivery.ReasonHTTP5xx,
		DurationMS: 12, NextAttemptAt: at.Add(time.Minute), UpdatedAt: at,
	}
}

var states = []delivery.State{
	delivery.Queued, delivery.Retrying, delivery.Waiting, delivery.Acknowledged, delivery.Dead, delivery.Discarded,
	delivery.Purged,
}

// write stores a record by the method for its state. Purged does not tell whether it has written.
func write(t testing.TB, b Backend, r delivery.Record) (written, told bool) {
	t.Helper()
	var err error
	switch r.State {
	case delivery.Acknowledged:
		written, err = true, b.Deliveries.Acknowledge(t.Context(), []delivery.Record{r})
	case delivery.Purged:
		err = b.Deliveries.Purged(t.Context(), r)
	default:
		written, err = b.Deliveries.Update(t.Context(), r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return written, r.State != delivery.Purged
}

// afterwards is a record as it is read once it was written.
func afterwards(r delivery.Record) delivery.Record {
	if r.State == delivery.Acknowledged {
		r.NextAttemptAt = time.Time{}
	}
	return r
}

func record(t testing.TB, b Backend, id string) delivery.Record {
	t.Helper()
	r, found, err := b.Deliveries.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: %v, %v", id, found, err)
	}
	return r
}

var deliveryPromises = []Promise{
	{"a state replaces those that the rule says, and no others", func(t testing.TB, b Backend) {
		var all []delivery.Record
		for _, s := range states {
			for _, lived := range [][2]int{{0, 3}, {0, 10}, {1, 3}} {
				all = append(all, State("", s, lived[0], lived[1]))
			}
		}
		for _, was := range all {
			for _, next := range all {
				id := fmt.Sprintf("msg_%s%d%d%s%d%d", was.State, was.Replay, was.Attempts, next.State, next.Replay, next.Attempts)
				was.DeliveryID, next.DeliveryID = id, id
				next.DurationMS = 13
				if written, told := write(t, b, was); !written && told {
					t.Fatalf("%s: nothing is stored in place of nothing", id)
				}
				want := afterwards(was)
				if next.Replaces(was) {
					want = afterwards(next)
				}
				if written, told := write(t, b, next); told && written != next.Replaces(was) {
					t.Errorf("%s: written %v", id, written)
				}
				if diff := cmp.Diff(want, record(t, b, id)); diff != "" {
					t.Errorf("%s (-want +got)\n%s", id, diff)
				}
			}
		}
	}},
	{"of an acknowledged delivery the first record of a call is kept", func(t testing.TB, b Backend) {
		first, second := State("msg_1", delivery.Retrying, 0, 2), State("msg_1", delivery.Retrying, 0, 3)
		other := State("msg_2", delivery.Acknowledged, 0, 1)
		again(t, b, func() error {
			return b.Deliveries.Acknowledge(t.Context(), []delivery.Record{first, other, second})
		})
		for _, want := range []delivery.Record{first, other} { // of any state: now they are acknowledged
			want.State, want.NextAttemptAt = delivery.Acknowledged, time.Time{}
			if diff := cmp.Diff(want, record(t, b, want.DeliveryID)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
		if err := b.Deliveries.Acknowledge(t.Context(), nil); err != nil {
			t.Errorf("nothing: %v", err)
		}
	}},
	{"an update that is asked for again is no refusal", func(t testing.TB, b Backend) {
		for _, s := range []delivery.State{delivery.Retrying, delivery.Dead} {
			r := State("msg_1", s, 0, 3)
			again(t, b, func() error { return applied(b.Deliveries.Update(t.Context(), r)) })
		}
		r := State("msg_1", delivery.Purged, 0, 3)
		again(t, b, func() error { return b.Deliveries.Purged(t.Context(), r) })
		if got := record(t, b, "msg_1"); got.State != delivery.Purged {
			t.Errorf("it is %s", got.State)
		}
	}},
	{"records are read by their ids, missing ones left out", func(t testing.TB, b Backend) {
		want := map[string]delivery.Record{}
		ids := []string{"msg_missing"}
		for n := range 120 {
			r := State(fmt.Sprint("msg_", n), delivery.Retrying, 0, 1)
			write(t, b, r)
			want[r.DeliveryID] = r
			ids = append(ids, r.DeliveryID)
		}
		got, err := b.Deliveries.BatchGet(t.Context(), ids)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		if _, found, err := b.Deliveries.Get(t.Context(), "msg_missing"); found || err != nil {
			t.Errorf("a missing one: %v, %v", found, err)
		}
	}},
	{"a record that cannot be read is an error", func(t testing.TB, b Backend) {
		for _, id := range []string{"msg_1", "msg_2"} {
			write(t, b, State(id, delivery.Retrying, 0, 1))
		}
		b.Breaker.BreakDelivery("msg_1")
		if r, _, err := b.Deliveries.Get(t.Context(), "msg_1"); err == nil {
			t.Errorf("read %+v", r)
		}
		if all, err := b.Deliveries.BatchGet(t.Context(), []string{"msg_1", "msg_2"}); err == nil {
			t.Errorf("read %+v", all)
		}
	}},
	{"an endpoint's deliveries that are not acknowledged are listed, the newest first", func(t testing.TB, b Backend) {
		var records []delivery.Record
		for n := range 5 {
			r := State(fmt.Sprint("msg_", n), delivery.Retrying, 0, 1)
			r.CreatedAt = at.Add(time.Duration(n) * time.Second)
			write(t, b, r)
			records = append(records, r)
		}
		other := State("msg_other", delivery.Retrying, 0, 1)
		other.EndpointID = "webhook_2"
		write(t, b, other)
		records[0].Attempts, records[0].UpdatedAt = 2, at.Add(time.Hour) // a later change moves nothing
		write(t, b, records[0])
		records[2].State = delivery.Acknowledged
		write(t, b, records[2])
		got := pages(t, 2, func(cursor string) ([]delivery.Record, string, error) {
			return b.Deliveries.ListOpen(t.Context(), "webhook_1", dynamo.OpenPage{Limit: 2, Cursor: cursor})
		})
		want := slices.Delete(slices.Clone(records), 2, 3)
		slices.Reverse(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for name, row := range map[string]struct {
			since, until time.Time
			want         []delivery.Record
		}{
			"from a moment on": {since: second(3), want: want[:2]},
			"to a moment":      {until: second(3), want: want[2:]},
			"in a time":        {second(1), second(4), want[1:3]},
			"in no time":       {since: second(3), until: second(3)},
		} {
			some, _, err := b.Deliveries.ListOpen(t.Context(), "webhook_1",
				dynamo.OpenPage{Limit: 9, Since: row.since, Until: row.until})
			if diff := cmp.Diff(row.want, some); err != nil || diff != "" {
				t.Errorf("published %s: %v (-want +got)\n%s", name, err, diff)
			}
		}
		_, _, err := b.Deliveries.ListOpen(t.Context(), "webhook_1", dynamo.OpenPage{Limit: 2, Cursor: "nonsense"})
		if !errors.Is(err, dynamo.ErrCursor) {
			t.Errorf("cursor: %v", err)
		}
	}},
}
