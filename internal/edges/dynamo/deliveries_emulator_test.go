//go:build emulator

package dynamo_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var at = time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)

func state(id string, s delivery.State, replay, attempts int) delivery.Record {
	r := delivery.Record{
		Ref: wantLetter.Ref, EventType: "user.created", State: s, Attempts: attempts, LastStatus: 503,
		Reason: delivery.ReasonHTTP5xx, DurationMS: 12, NextAttemptAt: at.Add(time.Minute), UpdatedAt: at,
	}
	r.DeliveryID, r.EndpointID, r.Replay = id, "webhook_1", replay
	return r
}

func acknowledged(n int) (records []delivery.Record) {
	for i := range n {
		records = append(records, state(fmt.Sprintf("msg_%02d", i), delivery.Acknowledged, 0, 1))
	}
	return records
}

// wrote counts the acknowledged records that are stored.
func wrote(t *testing.T, s *dynamo.Deliveries, records []delivery.Record) (n int) {
	t.Helper()
	for _, r := range records {
		got, found, err := s.Get(t.Context(), r.DeliveryID)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			continue
		}
		n++
		if got.State != delivery.Acknowledged || !got.NextAttemptAt.IsZero() {
			t.Errorf("%+v, want acknowledged without a next attempt", got)
		}
	}
	return n
}

func TestDeliveries_Acknowledge_writesTwentyFiveToACall(t *testing.T) {
	for name, row := range map[string]struct {
		n     int
		left  []int // performed of each call in turn; then all
		calls int
	}{
		"nothing makes no call":                     {0, nil, 0},
		"twenty-five in one":                        {25, nil, 1},
		"twenty-six in two":                         {26, nil, 2},
		"the rest is offered before the next":       {30, []int{20}, 3},
		"and again, as long as there is any":        {30, []int{1, 20, 3}, 5},
		"five times over is still within the tries": {2, []int{0, 0, 0, 0, 1}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			store, faults := r.deliveries, r.faults
			for _, done := range row.left {
				faults.On("BatchWriteItem", 1, testkit.Unprocessed(done))
			}
			records := acknowledged(row.n)
			twice := append(slices.Clone(records), records...) // a duplicate would fail the whole call
			if err := store.Acknowledge(t.Context(), twice); err != nil {
				t.Fatal(err)
			}
			if n := len(faults.Calls("BatchWriteItem")); n != row.calls {
				t.Errorf("%d calls, want %d", n, row.calls)
			}
			if n := wrote(t, store, records); n != row.n {
				t.Errorf("%d of %d are stored", n, row.n)
			}
		})
	}
}

func TestDeliveries_Acknowledge_makesTheOtherCallsWhenOneFails(t *testing.T) {
	ofFirst := func(c testkit.Call) bool { return bytes.Contains(c.Body, []byte(`"msg_00"`)) }
	for name, row := range map[string]struct {
		fault testkit.Fault
		want  error
	}{
		"refused":     {testkit.Fail(400, "ResourceNotFoundException"), nil},
		"unprocessed": {testkit.Unprocessed(0), dynamo.ErrUnprocessed},
	} {
		r := newRig(t)
		store, faults := r.deliveries, r.faults
		faults.Add(testkit.Rule{Action: "BatchWriteItem", When: ofFirst, Fault: row.fault})
		records := acknowledged(30)
		err := store.Acknowledge(t.Context(), records)
		if err == nil || row.want != nil && !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
		if n := wrote(t, store, records); n != 5 {
			t.Errorf("%s: %d are stored, want the 5 of the second call", name, n)
		}
	}
}

func TestDeliveries_KeepAcknowledged_isForThoseAlone(t *testing.T) {
	r := newRig(t)
	store := r.deliveries
	kept := store.KeepAcknowledged(7 * 24 * time.Hour)
	for name, row := range map[string]struct {
		store *dynamo.Deliveries
		state delivery.State
		days  int
	}{
		"acknowledged":       {store, delivery.Acknowledged, 30},
		"retrying":           {store, delivery.Retrying, 30},
		"kept, acknowledged": {kept, delivery.Acknowledged, 7},
		"kept, retrying":     {kept, delivery.Retrying, 30},
	} {
		d := state("msg_"+name, row.state, 0, 1)
		if row.state == delivery.Acknowledged {
			if err := row.store.Acknowledge(t.Context(), []delivery.Record{d}); err != nil {
				t.Fatal(err)
			}
		} else {
			update(t, row.store, d)
		}
		want := fmt.Sprint(at.AddDate(0, 0, row.days).Unix())
		expires := r.stored(r.tables.Deliveries, keyOf("delivery_id", d.DeliveryID))["expires_at"]
		if n, ok := expires.(*types.AttributeValueMemberN); !ok || n.Value != want {
			t.Errorf("%s expires at %+v, want %s", name, n, want)
		}
	}
}

func update(t *testing.T, s *dynamo.Deliveries, r delivery.Record) {
	t.Helper()
	if _, err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func TestDeliveries_ListOpen_tellsAFault(t *testing.T) {
	r := newRig(t)
	update(t, r.deliveries, state("msg_1", delivery.Retrying, 0, 1))
	r.faults.On("BatchGetItem", 0, testkit.Fail(400, "ResourceNotFoundException"))
	if records, _, err := r.deliveries.ListOpen(t.Context(), "webhook_1", dynamo.OpenPage{Limit: 2}); err == nil {
		t.Errorf("records that could not be read are %v", records)
	}
}
