//go:build emulator

package dynamo_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/job"
)

var deadAt = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func death(id, endpoint string, replay int, at time.Time) deadletter.Record {
	r := wantLetter
	r.DeliveryID, r.EndpointID, r.Replay, r.ReplayCount, r.DiedAt, r.UpdatedAt = id, endpoint, replay, replay, at, at
	r.Sealed = deadletter.Sealed{Body: []byte("sealed body"), History: []deadletter.SealedEntry{
		{Replay: replay, Reason: r.Reason, Sealed: []byte(fmt.Sprint("sealed entry ", replay, at))},
	}}
	return r
}

func bury(t *testing.T, store *dynamo.DeadLetters, r deadletter.Record) {
	t.Helper()
	if ok, err := store.Create(t.Context(), r); err != nil || !ok {
		t.Fatalf("creating %s: %v, %v", r.DeliveryID, ok, err)
	}
}

func getLetter(t *testing.T, store *dynamo.DeadLetters, id string) deadletter.Record {
	t.Helper()
	r, found, err := store.Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("getting %s: %v, %v", id, found, err)
	}
	return r
}

func TestDeadLetters_Create_storesARecordOnce(t *testing.T) {
	store := newRig(t).letters
	want := death("msg_1", "webhook_1", 0, deadAt)
	bury(t, store, want)
	if ok, err := store.Create(t.Context(), death("msg_1", "webhook_1", 0, deadAt.Add(time.Minute))); ok || err != nil {
		t.Errorf("created twice: %v, %v", ok, err)
	}
	if diff := cmp.Diff(want, getLetter(t, store, "msg_1")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if _, found, err := store.Get(t.Context(), "msg_2"); found || err != nil {
		t.Errorf("found what is not there: %v", err)
	}
}

func TestDeadLetters_Append_addsADeathOnce(t *testing.T) {
	store := newRig(t).letters
	second := death("msg_1", "webhook_1", 1, deadAt.Add(time.Hour))
	second.Reason, second.Sealed.Body = delivery.ReasonTimeout, nil
	wantAppend := func(doing string, r deadletter.Record, n int, written bool, seen deadletter.Record) {
		t.Helper()
		ok, got, err := store.Append(t.Context(), r, n)
		if diff := cmp.Diff(seen, got); ok != written || err != nil || diff != "" {
			t.Errorf("%s: %v, %v, seen (-want +got)\n%s", doing, ok, err, diff)
		}
	}
	wantAppend("to nothing", second, 2, false, deadletter.Record{})
	first := death("msg_1", "webhook_1", 0, deadAt)
	bury(t, store, first)
	wantAppend("sealed as the third", second, 3, false, first)
	wantAppend("sealed as the second", second, 2, true, deadletter.Record{})
	want := second                       // the latest death, with the first one's body
	want.ReplayCount = first.ReplayCount // a claim counts replays
	want.Sealed.Body = first.Sealed.Body
	want.Sealed.History = append(first.Sealed.History, second.Sealed.History...)
	wantAppend("the same life", death("msg_1", "webhook_1", 1, deadAt.Add(2*time.Hour)), 3, false, want)
	wantAppend("an earlier life", first, 3, false, want)
}

func TestDeadLetters_hasRoomForTheLargestBodyAndEveryReplay(t *testing.T) {
	store := newRig(t).letters
	r := death("msg_1", "webhook_1", 0, deadAt)
	r.Sealed.Body = bytes.Repeat([]byte("x"), 278_528+250)
	r.Sealed.History[0].Sealed = bytes.Repeat([]byte("h"), 500)
	bury(t, store, r)
	for replay := 1; replay <= deadletter.MaxReplays; replay++ {
		next := death("msg_1", "webhook_1", replay, deadAt)
		next.Sealed.History[0].Sealed = bytes.Repeat([]byte("h"), 500)
		if ok, _, err := store.Append(t.Context(), next, replay+1); !ok || err != nil {
			t.Fatalf("death %d: %v, %v", replay, ok, err)
		}
	}
	if got := getLetter(t, store, "msg_1"); len(got.Sealed.History) != deadletter.MaxReplays+1 ||
		len(got.Sealed.Body) != 278_528+250 {
		t.Errorf("%d deaths, %d bytes", len(got.Sealed.History), len(got.Sealed.Body))
	}
}

// The corpus of formats pins the end after the first death.
func TestDeadLetters_KeepDead_expiresWithTheLatestDeath(t *testing.T) {
	r := newRig(t)
	bury(t, r.letters, death("msg_1", "webhook_1", 0, deadAt))
	later := deadAt.Add(time.Hour)
	for n, row := range []struct {
		store *dynamo.DeadLetters
		want  types.AttributeValue
	}{
		{r.letters, &types.AttributeValueMemberN{Value: fmt.Sprint(later.Add(90 * 24 * time.Hour).Unix())}},
		{dynamo.NewDeadLetters(r.client, r.tables.DeadLetters), nil}, // for ever
	} {
		if ok, _, err := row.store.Append(t.Context(), death("msg_1", "webhook_1", n+1, later), n+2); !ok {
			t.Fatal(err)
		}
		got := r.stored(r.tables.DeadLetters, keyOf("delivery_id", "msg_1"))["expires_at"]
		if diff := cmp.Diff(row.want, got, cmpopts.IgnoreUnexported(types.AttributeValueMemberN{})); diff != "" {
			t.Errorf("expires (-want +got)\n%s", diff)
		}
	}
}

func TestDeadLetters_List_findsWhatIsSelected(t *testing.T) {
	store := newRig(t).letters
	second := func(n int) time.Time { return deadAt.Add(time.Duration(n) * time.Second) }
	for i := range 7 {
		r := death(fmt.Sprint("msg_", i), "webhook_1", 0, second(i))
		if i >= 4 {
			r.Reason = delivery.ReasonTimeout
		}
		bury(t, store, r)
		if i%2 == 1 {
			claim(t, store, r.DeliveryID)
		}
	}
	other := death("msg_other", "webhook_2", 0, second(-1))
	other.TenantID = "other"
	bury(t, store, other)
	unreadable := death("unreadable_1", "", 0, second(60))
	unreadable.Ref = delivery.Ref{DeliveryID: "unreadable_1", CreatedAt: deadAt}
	unreadable.EventType, unreadable.Reason = "", delivery.ReasonUnreadable
	bury(t, store, unreadable)
	if diff := cmp.Diff(unreadable, getLetter(t, store, "unreadable_1")); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	type selector = job.Selector
	for name, row := range map[string]struct {
		s    selector
		want string // oldest first
	}{
		"an endpoint's":     {selector{EndpointID: "webhook_1"}, "msg_0 msg_1 msg_2 msg_3 msg_4 msg_5 msg_6"},
		"a tenant's":        {selector{TenantID: "other"}, "msg_other"},
		"of a status":       {selector{Status: "replaying"}, "msg_1 msg_3 msg_5"},
		"all that are dead": {selector{Status: "dead"}, "msg_other msg_0 msg_2 msg_4 msg_6 unreadable_1"},
		"unreadable ones":   {selector{Status: "dead", Reason: "unreadable"}, "unreadable_1"},
		"by all that there is": {
			selector{
				EndpointID: "webhook_1", TenantID: "acme", Status: "dead", Reason: "http_5xx",
				Since: second(1), Until: second(4),
			}, "msg_2",
		},
		"another's endpoint": {selector{EndpointID: "webhook_1", TenantID: "other"}, ""},
		"of some time":       {selector{TenantID: "acme", Since: second(2), Until: second(4)}, "msg_2 msg_3"},
		"of no time":         {selector{TenantID: "acme", Since: second(2), Until: second(2)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := strings.Fields(row.want)
			if diff := cmp.Diff(row.want, strings.Join(list(t, store, row.s, 2, true), " ")); diff != "" {
				t.Errorf("oldest first (-want +got):\n%s", diff)
			}
			if got := list(t, store, row.s, 3, false); len(got) != len(wanted) || len(got) > 0 && got[0] != wanted[len(got)-1] {
				t.Errorf("newest first: %v", got)
			}
			n, oldest, err := store.Count(t.Context(), row.s)
			if err != nil || n != len(wanted) || n > 0 && !oldest.Equal(getLetter(t, store, wanted[0]).DiedAt) {
				t.Errorf("counted %d, the oldest of %s, %v", n, oldest, err)
			}
		})
	}
	for s, want := range map[selector]error{
		{Reason: "timeout"}: dynamo.ErrSelector, {EndpointID: "webhook_1"}: dynamo.ErrCursor,
	} {
		if _, _, err := store.List(t.Context(), s, dynamo.LetterPage{Limit: 2, Cursor: "garbage"}); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", s, err, want)
		}
	}
}

// list reads all pages and checks that every page but the last is full.
func list(t *testing.T, store *dynamo.DeadLetters, s job.Selector, limit int, oldest bool) (ids []string) {
	t.Helper()
	for page := (dynamo.LetterPage{Limit: limit, OldestFirst: oldest}); ; {
		records, next, err := store.List(t.Context(), s, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Sealed.Body != nil || r.Sealed.History != nil {
				t.Error("a list carries what is sealed")
			}
			ids = append(ids, r.DeliveryID)
		}
		if page.Cursor = next; next == "" {
			return ids
		}
		if len(records) != limit {
			t.Errorf("a page of %d that is not the last", len(records))
		}
	}
}

func claim(t *testing.T, store *dynamo.DeadLetters, id string) (replay int) {
	t.Helper()
	r := getLetter(t, store, id)
	replay, fresh, ok, err := store.Claim(t.Context(), r, "ann", "", deadAt.Add(time.Hour))
	if err != nil || !ok || !fresh {
		t.Fatalf("claiming %s: %v, fresh %v, %v", id, ok, fresh, err)
	}
	return replay
}

// The claims are of one operator, at the same moment.
func TestDeadLetters_Claim_isWonByOneOfMany(t *testing.T) {
	store := newRig(t).letters
	bury(t, store, death("msg_1", "webhook_1", 0, deadAt))
	seen := getLetter(t, store, "msg_1")
	var wait sync.WaitGroup
	won := make(chan int, 8)
	for range 8 {
		wait.Go(func() {
			if replay, _, ok, err := store.Claim(t.Context(), seen, "ann", "", deadAt.Add(time.Hour)); err != nil {
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
	store := newRig(t).letters
	bury(t, store, death("msg_1", "webhook_1", 0, deadAt))
	if replay := claim(t, store, "msg_1"); replay != 1 {
		t.Fatalf("replay %d", replay)
	}
	seen, now := getLetter(t, store, "msg_1"), deadAt.Add(time.Hour)
	claimed := func(r deadletter.Record, at time.Time) string {
		replay, fresh, ok, err := store.Claim(t.Context(), r, "bob", "", at)
		return fmt.Sprint(replay, fresh, ok, err)
	}
	if got := claimed(seen, now.Add(time.Second)); got != "0 false false <nil>" {
		t.Errorf("claimed from under a running replay: %s", got)
	}
	if got := claimed(seen, now.Add(deadletter.StaleClaim)); got != "1 false true <nil>" {
		t.Errorf("a broken-off replay is claimed as %s", got)
	}
	for _, status := range []deadletter.Status{deadletter.Replayed, deadletter.Dead} { // the second is late
		if err := store.EndReplay(t.Context(), "msg_1", 1, status, now); err != nil {
			t.Error(err)
		}
	}
	replayed := getLetter(t, store, "msg_1")
	got := claimed(replayed, now.Add(time.Hour))
	if replayed.Status != deadletter.Replayed || got != "0 false false <nil>" {
		t.Errorf("claimed a %s one: %s", replayed.Status, got)
	}
	if ok, _, err := store.Append(t.Context(), death("msg_1", "webhook_1", 1, now), 2); !ok || err != nil {
		t.Errorf("dying again: %v, %v", ok, err)
	}
	if replay := claim(t, store, "msg_1"); replay != 2 {
		t.Errorf("the next replay is %d", replay)
	}
}

func TestDeadLetters_Purge_takesOnlyWhatWasSeen(t *testing.T) {
	store := newRig(t).letters
	bury(t, store, death("msg_1", "webhook_1", 0, deadAt))
	seen := getLetter(t, store, "msg_1")
	claim(t, store, "msg_1")
	if ok, err := store.Purge(t.Context(), seen); ok || err != nil {
		t.Errorf("purged what changed: %v", err)
	}
	if ok, err := store.Purge(t.Context(), getLetter(t, store, "msg_1")); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if _, found, _ := store.Get(t.Context(), "msg_1"); found {
		t.Error("still there")
	}
}
