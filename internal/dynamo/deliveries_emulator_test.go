//go:build emulator

package dynamo_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var at = time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)

func newDeliveries(t *testing.T) (*dynamo.Deliveries, *testkit.Faults) {
	t.Helper()
	cfg := testkit.Moto(t)
	faults := testkit.NewFaults(t, cfg)
	return dynamo.NewDeliveries(dynamodb.NewFromConfig(faults.Config()), testkit.Tables(t, cfg).Deliveries), faults
}

func state(id string, s delivery.State, replay, attempts int) delivery.Record {
	return delivery.Record{
		Ref: delivery.Ref{
			DeliveryID: id,
			TenantID:   "t",
			EndpointID: "webhook_1",
			EventID:    "e",
			OccurredAt: at.Add(-time.Minute),
			CreatedAt:  at,
			Replay:     replay,
		},
		EventType: "user.created", State: s, Attempts: attempts,
		LastStatus: 503, Reason: delivery.ReasonHTTP5xx, DurationMS: 12,
		NextAttemptAt: at.Add(time.Minute), UpdatedAt: at}
}

func TestStateReadsBackWhole(t *testing.T) {
	store, _ := newDeliveries(t)
	want := state("msg_1", delivery.Retrying, 0, 1)
	if written, err := store.Update(t.Context(), want); err != nil || !written {
		t.Fatal(written, err)
	}
	got, found, err := store.Get(t.Context(), "msg_1")
	if err != nil || !found || got != want {
		t.Errorf("%+v, %v, %v; want %+v", got, found, err, want)
	}
	if _, found, err = store.Get(t.Context(), "msg_2"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestStateNeverGoesBack(t *testing.T) {
	const retrying, dead, discarded = delivery.Retrying, delivery.Dead, delivery.Discarded
	const queued, acknowledged = delivery.Queued, delivery.Acknowledged
	for name, row := range map[string]struct {
		known, late delivery.Record
		written     bool
	}{
		"further retries are written":               {state("", retrying, 0, 1), state("", retrying, 0, 2), true},
		"the same place again is written":           {state("", retrying, 0, 2), state("", retrying, 0, 2), true},
		"an earlier retry comes late":               {state("", retrying, 0, 3), state("", retrying, 0, 2), false},
		"dead after the last retry":                 {state("", retrying, 0, 10), state("", dead, 0, 10), true},
		"dead is dead":                              {state("", dead, 0, 10), state("", retrying, 0, 10), false},
		"discarded is discarded":                    {state("", discarded, 0, 1), state("", retrying, 0, 2), false},
		"a replay begins anew":                      {state("", dead, 0, 10), state("", queued, 1, 0), true},
		"a duplicate from before the replay":        {state("", queued, 1, 0), state("", retrying, 0, 10), false},
		"acknowledged is never retrying":            {state("", acknowledged, 0, 1), state("", retrying, 0, 2), false},
		"acknowledged is never dead":                {state("", acknowledged, 0, 1), state("", dead, 0, 10), false},
		"acknowledged is never queued again":        {state("", acknowledged, 0, 1), state("", queued, 1, 0), false},
		"acknowledged is never discarded":           {state("", acknowledged, 0, 1), state("", discarded, 1, 1), false},
		"a success after all, of whatever was dead": {state("", dead, 0, 10), state("", acknowledged, 0, 2), true},
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := newDeliveries(t)
			write := func(r delivery.Record) bool {
				r.DeliveryID = "msg_1"
				if r.State == delivery.Acknowledged {
					if err := store.Acknowledge(t.Context(), []delivery.Record{r}); err != nil {
						t.Fatal(err)
					}
					return true
				}
				written, err := store.Update(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				return written
			}
			write(row.known)
			if got := write(row.late); got != row.written {
				t.Errorf("written: %v, want %v", got, row.written)
			}
			want := row.known.State
			if row.written {
				want = row.late.State
			}
			if got, _, err := store.Get(t.Context(), "msg_1"); err != nil || got.State != want {
				t.Errorf("state %s, %v; want %s", got.State, err, want)
			}
		})
	}
}

func TestAcknowledgeWritesTwentyFiveInACallAndOffersAgainWhatWasLeft(t *testing.T) {
	store, faults := newDeliveries(t)
	faults.On("BatchWriteItem", 1, testkit.Unprocessed(20))
	var records []delivery.Record
	for i := range 30 {
		records = append(records, state(fmt.Sprint("msg_", i), delivery.Acknowledged, 0, 1))
	}
	records = append(records, records[0]) // a duplicate would fail the whole call
	if err := store.Acknowledge(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	if n := len(faults.Calls("BatchWriteItem")); n != 3 {
		t.Errorf("%d calls, want 3: 25, the 5 left of them, 5", n)
	}
	for i := range 30 {
		got, found, err := store.Get(t.Context(), fmt.Sprint("msg_", i))
		if err != nil || !found {
			t.Fatalf("getting msg_%d: found %v, %v", i, found, err)
		}
		if got.State != delivery.Acknowledged || !got.NextAttemptAt.IsZero() {
			t.Errorf("msg_%d is %+v, want acknowledged without a next attempt", i, got)
		}
	}
}

func TestAcknowledgeReportsWhatStaysUnprocessed(t *testing.T) {
	store, faults := newDeliveries(t)
	faults.On("BatchWriteItem", 0, testkit.Unprocessed(0))
	if err := store.Acknowledge(t.Context(), []delivery.Record{state("msg_1", delivery.Acknowledged, 0, 1)}); err == nil {
		t.Error("a write that never happened is no error")
	}
}

func update(t *testing.T, s *dynamo.Deliveries, r delivery.Record) {
	t.Helper()
	if _, err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// open lists everything that is open, two records a page.
func open(t *testing.T, s *dynamo.Deliveries) (all []delivery.Record) {
	t.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := s.ListOpen(t.Context(), "webhook_1", 2, cursor)
		if err != nil || len(page) > 2 {
			t.Fatal(len(page), err)
		}
		all, cursor = append(all, page...), next
	}
	return all
}

func TestDeliveries_ListOpen_pagesThroughWhatIsNotAcknowledgedNewestFirst(t *testing.T) {
	store, faults := newDeliveries(t)
	var records []delivery.Record
	for i := range 5 {
		r := state(fmt.Sprint("msg_", i), delivery.Retrying, 0, 1)
		r.CreatedAt = at.Add(time.Duration(i) * time.Second)
		update(t, store, r)
		records = append(records, r)
	}
	records[0].Attempts, records[0].UpdatedAt = 2, at.Add(time.Hour) // a later change moves nothing
	update(t, store, records[0])
	if err := store.Acknowledge(t.Context(), records[2:3]); err != nil {
		t.Fatal(err)
	}
	want := []delivery.Record{records[4], records[3], records[1], records[0]}
	if diff := cmp.Diff(want, open(t, store)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, _, err := store.ListOpen(t.Context(), "webhook_1", 2, "nonsense"); !errors.Is(err, dynamo.ErrCursor) {
		t.Errorf("cursor: %v", err)
	}
	faults.On("BatchGetItem", 0, testkit.Fail(400, "ResourceNotFoundException"))
	if records, _, err := store.ListOpen(t.Context(), "webhook_1", 2, ""); err == nil {
		t.Errorf("records that could not be read are %v", records)
	}
}

// What release 0.1.0 stored has the time of its last change under another name.
func TestDeliveries_readWhatTheReleaseBeforeStored(t *testing.T) {
	cfg := testkit.Moto(t)
	client, table := dynamodb.NewFromConfig(cfg), testkit.Tables(t, cfg).Deliveries
	store := dynamo.NewDeliveries(client, table)
	want := state("msg_1", delivery.Retrying, 0, 1)
	update(t, store, want)
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:        &table,
		Key:              map[string]types.AttributeValue{"delivery_id": &types.AttributeValueMemberS{Value: "msg_1"}},
		UpdateExpression: aws.String("SET updated_at = changed_at REMOVE changed_at"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]delivery.Record{want}, open(t, store)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	all, err := store.BatchGet(t.Context(), []string{"msg_1", "msg_2"})
	if diff := cmp.Diff(map[string]delivery.Record{"msg_1": want}, all); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
