package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// fakeBatch is a table that takes of each BatchWriteItem call no more than it is told to.
type fakeBatch struct {
	dynamo.DeliveriesClient
	takes   func(call, entries int) (int, error)
	calls   [][]string // delivery ids
	taken   []string
	expires []string // Unix seconds at which items do, of every put
}

func (f *fakeBatch) PutItem(
	_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	f.expires = append(f.expires, in.Item["expires_at"].(*types.AttributeValueMemberN).Value)
	return &dynamodb.PutItemOutput{}, nil
}

func (f *fakeBatch) BatchWriteItem(
	_ context.Context,
	in *dynamodb.BatchWriteItemInput,
	_ ...func(*dynamodb.Options),
) (*dynamodb.BatchWriteItemOutput, error) {
	writes := in.RequestItems["deliveries"]
	var ids []string
	for _, w := range writes {
		ids = append(ids, w.PutRequest.Item["delivery_id"].(*types.AttributeValueMemberS).Value)
		f.expires = append(f.expires, w.PutRequest.Item["expires_at"].(*types.AttributeValueMemberN).Value)
	}
	f.calls = append(f.calls, ids)
	n, err := f.takes(len(f.calls)-1, len(writes))
	if err != nil {
		return nil, err
	}
	f.taken = append(f.taken, ids[:n]...)
	out := &dynamodb.BatchWriteItemOutput{}
	if n < len(writes) {
		out.UnprocessedItems = map[string][]types.WriteRequest{"deliveries": writes[n:]}
	}
	return out, nil
}

func acknowledged(n int) (records []delivery.Record, ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("msg_%02d", i))
		records = append(
			records,
			delivery.Record{Ref: delivery.Ref{DeliveryID: ids[i]}, UpdatedAt: time.Unix(1_700_000_000, 0)},
		)
	}
	return records, ids
}

func TestDeliveries_Acknowledge_writesTwentyFiveToACall(t *testing.T) {
	leave := func(left ...int) func(call, entries int) (int, error) {
		return func(call, entries int) (int, error) {
			if call < len(left) {
				return max(entries-left[call], 0), nil
			}
			return entries, nil
		}
	}
	for name, row := range map[string]struct {
		n     int
		takes func(call, entries int) (int, error)
		want  []int
	}{
		"nothing makes no call":                      {0, leave(), nil},
		"twenty-five in one":                         {25, leave(), []int{25}},
		"twenty-six in two":                          {26, leave(), []int{25, 1}},
		"thirty-five in two":                         {35, leave(), []int{25, 10}},
		"what was left is offered before the next":   {35, leave(5), []int{25, 5, 10}},
		"and again, as long as there is any":         {35, leave(25, 5, 1), []int{25, 25, 5, 1, 10}},
		"what is left of the last call too":          {35, leave(0, 3), []int{25, 10, 3}},
		"five times over is still within the tries":  {2, leave(2, 2, 2, 2, 1), []int{2, 2, 2, 2, 2, 1}},
		"what is left does not fill up the next one": {60, leave(1, 0, 1), []int{25, 1, 25, 1, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the pauses between the tries
				f := &fakeBatch{takes: row.takes}
				records, ids := acknowledged(row.n)
				if err := dynamo.NewDeliveries(f, "deliveries").Acknowledge(t.Context(), records); err != nil {
					t.Error(err)
				}
				var got []int
				for _, call := range f.calls {
					got = append(got, len(call))
				}
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Errorf("sizes of the calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(ids, f.taken); diff != "" {
					t.Errorf("written, each once (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestDeliveries_Acknowledge_makesTheOtherCallsWhenOneFails(t *testing.T) {
	for name, row := range map[string]struct {
		takes func(call, entries int) (int, error)
		want  []int
		says  string
	}{
		"the call fails": {func(call, entries int) (int, error) {
			if call == 1 {
				return 0, errors.New("down")
			}
			return entries, nil
		}, []int{25, 25, 10}, "down"},
		"six tries leave the same two": {func(call, entries int) (int, error) {
			if call >= 1 && call <= 6 {
				return max(entries-2, 0), nil
			}
			return entries, nil
		}, []int{25, 25, 2, 2, 2, 2, 2, 10}, "2 items stay unprocessed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeBatch{takes: row.takes}
				records, ids := acknowledged(60)
				err := dynamo.NewDeliveries(f, "deliveries").Acknowledge(t.Context(), records)
				if err == nil || !strings.Contains(err.Error(), row.says) {
					t.Errorf("error %v, want %q", err, row.says)
				}
				var got []int
				for _, call := range f.calls {
					got = append(got, len(call))
				}
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Errorf("sizes of the calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(ids[50:], f.calls[len(f.calls)-1]); diff != "" {
					t.Errorf("the last call (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestDeliveries_Acknowledge_writesADuplicateOnce(t *testing.T) {
	f := &fakeBatch{takes: func(_, entries int) (int, error) { return entries, nil }}
	records, ids := acknowledged(25)
	twice := slices.Concat(records, records)
	if err := dynamo.NewDeliveries(f, "deliveries").Acknowledge(t.Context(), twice); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([][]string{ids}, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestDeliveries_KeepAcknowledged_isForThoseAlone(t *testing.T) {
	f := &fakeBatch{takes: func(_, entries int) (int, error) { return entries, nil }}
	store := dynamo.NewDeliveries(f, "deliveries")
	records, _ := acknowledged(1)
	for _, s := range []*dynamo.Deliveries{store, store.KeepAcknowledged(7 * 24 * time.Hour)} {
		if err := s.Acknowledge(t.Context(), records); err != nil {
			t.Error(err)
		}
		if _, err := s.Update(t.Context(), records[0]); err != nil {
			t.Error(err)
		}
	}
	var want []string
	for _, days := range []int64{30, 30, 7, 30} {
		want = append(want, fmt.Sprint(1_700_000_000+days*24*60*60))
	}
	if diff := cmp.Diff(want, f.expires); diff != "" {
		t.Errorf("acknowledged, another, kept, another (-want +got):\n%s", diff)
	}
}
