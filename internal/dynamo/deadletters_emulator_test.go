//go:build emulator

package dynamo_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit"
)

var deadAt = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func newDeadLetters(t *testing.T) *dynamo.DeadLetters {
	t.Helper()
	cfg := testkit.Moto(t)
	return dynamo.NewDeadLetters(dynamodb.NewFromConfig(cfg), testkit.Tables(t, cfg).DeadLetters)
}

func death(id, endpoint string, replay int, at time.Time) deadletter.Record {
	return deadletter.Record{
		Ref: delivery.Ref{DeliveryID: id, TenantID: "acme", EndpointID: endpoint, EventID: "event_1",
			OccurredAt: deadAt.Add(-2 * time.Hour), CreatedAt: deadAt.Add(-time.Hour), Replay: replay},
		EventType: "user.created", Status: deadletter.Dead, Reason: delivery.ReasonHTTP5xx,
		Attempts: 10, LastStatus: 503, ReplayCount: replay, DiedAt: at, UpdatedAt: at,
		Sealed: deadletter.Sealed{
			Body:    []byte("sealed body"),
			History: []deadletter.SealedEntry{{Replay: replay, Sealed: []byte(fmt.Sprint("sealed entry ", replay))}},
		},
	}
}

func create(t *testing.T, store *dynamo.DeadLetters, r deadletter.Record) {
	t.Helper()
	if ok, err := store.Create(t.Context(), r); err != nil || !ok {
		t.Fatalf("creating %s: %v, %v", r.DeliveryID, ok, err)
	}
}

func get(t *testing.T, store *dynamo.DeadLetters, id string) deadletter.Record {
	t.Helper()
	r, found, err := store.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: %v, %v", id, found, err)
	}
	return r
}

func TestDeadLetters_Create_storesTheWholeRecordOnce(t *testing.T) {
	store := newDeadLetters(t)
	want := death("msg_1", "webhook_1", 0, deadAt)
	want.Sealed.Attributes = []byte("sealed attributes")
	create(t, store, want)
	later := want
	later.DiedAt = deadAt.Add(time.Minute)
	if ok, err := store.Create(t.Context(), later); ok || err != nil {
		t.Errorf("created twice: %v, %v", ok, err)
	}
	if diff := cmp.Diff(want, get(t, store, "msg_1")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if _, found, err := store.Get(t.Context(), "msg_2"); found || err != nil {
		t.Errorf("found what is not there: %v", err)
	}
}

func TestDeadLetters_Append_addsADeathOnce(t *testing.T) {
	store := newDeadLetters(t)
	second := death("msg_1", "webhook_1", 1, deadAt.Add(time.Hour))
	second.Reason, second.Sealed.Body = delivery.ReasonTimeout, nil
	if ok, err := store.Append(t.Context(), second); ok || err != nil {
		t.Fatalf("appended to nothing: %v, %v", ok, err)
	}
	first := death("msg_1", "webhook_1", 0, deadAt)
	create(t, store, first)
	for i, want := range []bool{true, false} {
		if ok, err := store.Append(t.Context(), second); ok != want || err != nil {
			t.Errorf("append %d: %v, %v", i, ok, err)
		}
	}
	want := second                       // the latest death, with the first one's body
	want.ReplayCount = first.ReplayCount // a claim counts replays
	want.Sealed.Body = first.Sealed.Body
	want.Sealed.History = append(first.Sealed.History, second.Sealed.History...)
	if diff := cmp.Diff(want, get(t, store, "msg_1")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestDeadLetters_Append_hasRoomForTheLargestBodyAndEveryReplay(t *testing.T) {
	store := newDeadLetters(t)
	r := death("msg_1", "webhook_1", 0, deadAt)
	r.Sealed.Body = bytes.Repeat([]byte("x"), 278_528+250)
	r.Sealed.History[0].Sealed = bytes.Repeat([]byte("h"), 500)
	create(t, store, r)
	for replay := 1; replay <= deadletter.MaxReplays; replay++ {
		next := death("msg_1", "webhook_1", replay, deadAt)
		next.Sealed.History[0].Sealed = bytes.Repeat([]byte("h"), 500)
		if ok, err := store.Append(t.Context(), next); !ok || err != nil {
			t.Fatalf("death %d: %v, %v", replay, ok, err)
		}
	}
	if got := get(t, store, "msg_1"); len(got.Sealed.History) != deadletter.MaxReplays+1 ||
		len(got.Sealed.Body) != 278_528+250 {
		t.Errorf("%d deaths, %d bytes", len(got.Sealed.History), len(got.Sealed.Body))
	}
}

func TestDeadLetters_List_filtersByEndpointAndStatus(t *testing.T) {
	store := newDeadLetters(t)
	for i := range 7 {
		r := death(fmt.Sprint("msg_", i), "webhook_1", 0, deadAt.Add(time.Duration(i)*time.Second))
		create(t, store, r)
		if i%2 == 1 {
			claim(t, store, r.DeliveryID)
		}
	}
	create(t, store, death("msg_other", "webhook_2", 0, deadAt))
	unreadable := death("unreadable_1", "", 0, deadAt.Add(time.Minute))
	unreadable.TenantID, unreadable.EndpointID = "", ""
	create(t, store, unreadable)
	type filter = dynamo.DeadLetterFilter
	for name, row := range map[string]struct {
		filter filter
		want   string
	}{
		"endpoint":             {filter{EndpointID: "webhook_1"}, "msg_6 msg_5 msg_4 msg_3 msg_2 msg_1 msg_0"},
		"status":               {filter{Status: deadletter.Replaying}, "msg_5 msg_3 msg_1"},
		"endpoint and status":  {filter{EndpointID: "webhook_1", Status: deadletter.Dead}, "msg_6 msg_4 msg_2 msg_0"},
		"endpoint without any": {filter{EndpointID: "webhook_3"}, ""},
		"oldest first": {
			filter{EndpointID: "webhook_1", Status: deadletter.Dead, OldestFirst: true}, "msg_0 msg_2 msg_4 msg_6",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, strings.Join(list(t, store, row.filter, 2), " ")); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		})
	}
	// Two died at the same time: their order is the index's own.
	dead := []string{"unreadable_1", "msg_6", "msg_4", "msg_2", "msg_other", "msg_0"}
	got := list(t, store, filter{Status: deadletter.Dead}, 2)
	if diff := cmp.Diff(dead, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("all that are dead, the unreadable included (-want +got):\n%s", diff)
	}
	if _, _, err := store.List(t.Context(), dynamo.DeadLetterFilter{EndpointID: "webhook_1"}, 2, "garbage"); err == nil {
		t.Error("a garbage cursor passed")
	}
	type count struct {
		n      int
		oldest time.Time
	}
	for status, want := range map[deadletter.Status]count{deadletter.Dead: {6, deadAt}, deadletter.Replayed: {}} {
		n, oldest, err := store.Count(t.Context(), status)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, count{n, oldest}, cmp.AllowUnexported(count{})); diff != "" {
			t.Errorf("count of %s (-want +got):\n%s", status, diff)
		}
	}
}

// list reads all pages and checks that every page but the last is full.
func list(t *testing.T, store *dynamo.DeadLetters, f dynamo.DeadLetterFilter, limit int) []string {
	t.Helper()
	var ids []string
	for cursor := ""; ; {
		page, next, err := store.List(t.Context(), f, limit, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if r.Sealed.Body != nil {
				t.Error("a list carries bodies")
			}
			ids = append(ids, r.DeliveryID)
		}
		if cursor = next; next == "" {
			return ids
		}
		if len(page) != limit {
			t.Errorf("a page of %d that is not the last", len(page))
		}
	}
}

func claim(t *testing.T, store *dynamo.DeadLetters, id string) int {
	t.Helper()
	got := claimed(t, store, get(t, store, id), "ann", deadAt.Add(time.Hour))
	if !got.ok || !got.fresh {
		t.Fatalf("claiming %s: %+v", id, got)
	}
	return got.replay
}

// claimResult is what a claim answered.
type claimResult struct {
	replay    int
	fresh, ok bool
}

func claimed(
	t *testing.T, store *dynamo.DeadLetters, r deadletter.Record, operator string, now time.Time,
) (got claimResult) {
	t.Helper()
	var err error
	if got.replay, got.fresh, got.ok, err = store.Claim(t.Context(), r, operator, now); err != nil {
		t.Fatalf("claiming %s: %v", r.DeliveryID, err)
	}
	return got
}

func TestDeadLetters_Claim_isWonByOneOfMany(t *testing.T) {
	store := newDeadLetters(t)
	create(t, store, death("msg_1", "webhook_1", 0, deadAt))
	seen := get(t, store, "msg_1")
	var wait sync.WaitGroup
	won := make(chan int, 8)
	for range 8 {
		wait.Go(func() {
			if replay, _, ok, err := store.Claim(t.Context(), seen, "ann", deadAt.Add(time.Hour)); err != nil {
				t.Error(err)
			} else if ok {
				won <- replay
			}
		})
	}
	wait.Wait()
	if len(won) != 1 || <-won != 1 {
		t.Errorf("%d claims won", len(won)+1)
	}
}

func TestDeadLetters_Claim_followsTheLifeOfAReplay(t *testing.T) {
	store := newDeadLetters(t)
	create(t, store, death("msg_1", "webhook_1", 0, deadAt))
	if replay := claim(t, store, "msg_1"); replay != 1 {
		t.Fatalf("replay %d", replay)
	}
	seen, now := get(t, store, "msg_1"), deadAt.Add(time.Hour)
	if got := claimed(t, store, seen, "bob", now.Add(time.Second)); got.ok {
		t.Errorf("claimed from under a running replay: %+v", got)
	}
	want := claimResult{replay: 1, fresh: false, ok: true}
	if got := claimed(t, store, seen, "bob", now.Add(deadletter.StaleClaim)); got != want {
		t.Errorf("a broken-off replay is claimed as %+v, want %+v", got, want)
	}
	if ok, err := store.EndReplay(t.Context(), "msg_1", 1, deadletter.Replayed, now); !ok || err != nil {
		t.Errorf("ending a replay: %v, %v", ok, err)
	}
	if ok, err := store.EndReplay(t.Context(), "msg_1", 1, deadletter.Dead, now); ok || err != nil {
		t.Errorf("ended twice: %v, %v", ok, err)
	}
	if got := claimed(t, store, get(t, store, "msg_1"), "ann", now.Add(time.Hour)); got.ok {
		t.Errorf("claimed a replayed one: %+v", got)
	}
	if ok, err := store.Append(t.Context(), death("msg_1", "webhook_1", 1, now)); !ok || err != nil {
		t.Errorf("dying again: %v, %v", ok, err)
	}
	if replay := claim(t, store, "msg_1"); replay != 2 {
		t.Errorf("the next replay is %d", replay)
	}
}

func TestDeadLetters_Purge_takesOnlyWhatWasSeen(t *testing.T) {
	store := newDeadLetters(t)
	create(t, store, death("msg_1", "webhook_1", 0, deadAt))
	seen := get(t, store, "msg_1")
	claim(t, store, "msg_1")
	if ok, err := store.Purge(t.Context(), seen); ok || err != nil {
		t.Errorf("purged what changed: %v", err)
	}
	if ok, err := store.Purge(t.Context(), get(t, store, "msg_1")); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if _, found, _ := store.Get(t.Context(), "msg_1"); found {
		t.Error("still there")
	}
}
