//go:build emulator

package dynamo_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
			CreatedAt: deadAt.Add(-time.Hour), Replay: replay},
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

func TestADeadLetterIsCreatedOnceAndReadBackWhole(t *testing.T) {
	store := newDeadLetters(t)
	want := death("msg_1", "webhook_1", 0, deadAt)
	want.Sealed.Attributes = []byte("sealed attributes")
	create(t, store, want)
	later := want
	later.DiedAt = deadAt.Add(time.Minute)
	if ok, err := store.Create(t.Context(), later); ok || err != nil {
		t.Errorf("created twice: %v, %v", ok, err)
	}
	if got := get(t, store, "msg_1"); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if _, found, err := store.Get(t.Context(), "msg_2"); found || err != nil {
		t.Errorf("found what is not there: %v", err)
	}
}

func TestALaterDeathIsAppendedOnce(t *testing.T) {
	store := newDeadLetters(t)
	second := death("msg_1", "webhook_1", 1, deadAt.Add(time.Hour))
	second.Reason, second.Sealed.Body = delivery.ReasonTimeout, nil
	if ok, err := store.Append(t.Context(), second); ok || err != nil {
		t.Fatalf("appended to nothing: %v, %v", ok, err)
	}
	create(t, store, death("msg_1", "webhook_1", 0, deadAt))
	for i, want := range []bool{true, false} {
		if ok, err := store.Append(t.Context(), second); ok != want || err != nil {
			t.Errorf("append %d: %v, %v", i, ok, err)
		}
	}
	got := get(t, store, "msg_1")
	if len(got.Sealed.History) != 2 || got.Sealed.History[1].Replay != 1 || string(got.Sealed.History[1].Sealed) != "sealed entry 1" ||
		string(got.Sealed.Body) != "sealed body" ||
		got.Reason != delivery.ReasonTimeout ||
		!got.DiedAt.Equal(second.DiedAt) {
		t.Errorf("%+v", got)
	}
}

func TestTheLargestBodyAndEveryReplayFitOneItem(t *testing.T) {
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

func TestListsByEndpointAndStatus(t *testing.T) {
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
	for name, row := range map[string]struct {
		filter dynamo.DeadLetterFilter
		want   []string
	}{
		"endpoint":               {dynamo.DeadLetterFilter{EndpointID: "webhook_1"}, []string{"msg_6", "msg_5", "msg_4", "msg_3", "msg_2", "msg_1", "msg_0"}},
		"status":                 {dynamo.DeadLetterFilter{Status: deadletter.Replaying}, []string{"msg_5", "msg_3", "msg_1"}},
		"endpoint and status":    {dynamo.DeadLetterFilter{EndpointID: "webhook_1", Status: deadletter.Dead}, []string{"msg_6", "msg_4", "msg_2", "msg_0"}},
		"oldest first":           {dynamo.DeadLetterFilter{EndpointID: "webhook_1", Status: deadletter.Dead, OldestFirst: true}, []string{"msg_0", "msg_2", "msg_4", "msg_6"}},
		"endpoint without any":   {dynamo.DeadLetterFilter{EndpointID: "webhook_3"}, nil},
		"status, the unreadable": {dynamo.DeadLetterFilter{Status: deadletter.Dead}, []string{"unreadable_1", "msg_6", "msg_4", "msg_2", "msg_other", "msg_0"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := list(t, store, row.filter, 2)
			want := slices.Clone(row.want)
			if name == "status, the unreadable" { // equal times: the order is the index's own
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	if _, _, err := store.List(t.Context(), dynamo.DeadLetterFilter{EndpointID: "webhook_1"}, 2, "garbage"); err == nil {
		t.Error("a garbage cursor passed")
	}
	n, oldest, err := store.Count(t.Context(), deadletter.Dead)
	if err != nil || n != 6 || !oldest.Equal(deadAt) {
		t.Errorf("counted %d, oldest %s, %v", n, oldest, err)
	}
	if n, oldest, err = store.Count(t.Context(), deadletter.Replayed); err != nil || n != 0 || !oldest.IsZero() {
		t.Errorf("counted %d, oldest %s, %v", n, oldest, err)
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
	replay, fresh, ok, err := store.Claim(t.Context(), get(t, store, id), "ann", deadAt.Add(time.Hour))
	if err != nil || !ok || !fresh {
		t.Fatalf("claiming %s: %v, %v, %v", id, fresh, ok, err)
	}
	return replay
}

func TestOneOfManyClaimsWins(t *testing.T) {
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

func TestTheLifeOfAReplay(t *testing.T) {
	store := newDeadLetters(t)
	create(t, store, death("msg_1", "webhook_1", 0, deadAt))
	if replay := claim(t, store, "msg_1"); replay != 1 {
		t.Fatalf("replay %d", replay)
	}
	seen, now := get(t, store, "msg_1"), deadAt.Add(time.Hour)
	if _, _, ok, err := store.Claim(t.Context(), seen, "bob", now.Add(time.Second)); ok || err != nil {
		t.Errorf("claimed from under a running replay: %v", err)
	}
	replay, fresh, ok, err := store.Claim(t.Context(), seen, "bob", now.Add(deadletter.StaleClaim))
	if err != nil || !ok || fresh || replay != 1 {
		t.Errorf("a broken-off replay resumes as %d, fresh %v, %v, %v", replay, fresh, ok, err)
	}
	if ok, err := store.EndReplay(t.Context(), "msg_1", 1, deadletter.Replayed, now); !ok || err != nil {
		t.Errorf("ending a replay: %v, %v", ok, err)
	}
	if ok, err := store.EndReplay(t.Context(), "msg_1", 1, deadletter.Dead, now); ok || err != nil {
		t.Errorf("ended twice: %v, %v", ok, err)
	}
	if _, _, ok, _ := store.Claim(t.Context(), get(t, store, "msg_1"), "ann", now.Add(time.Hour)); ok {
		t.Error("claimed a replayed one")
	}
	if ok, err := store.Append(t.Context(), death("msg_1", "webhook_1", 1, now)); !ok || err != nil {
		t.Errorf("dying again: %v, %v", ok, err)
	}
	if replay := claim(t, store, "msg_1"); replay != 2 {
		t.Errorf("the next replay is %d", replay)
	}
}

func TestPurgeTakesOnlyWhatWasSeen(t *testing.T) {
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
