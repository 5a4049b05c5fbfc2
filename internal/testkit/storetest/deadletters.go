package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
)

var letterPromises = []Promise{
	{"a death makes a record once", func(t testing.TB, b Backend) {
		want := Letter("msg_1", "webhook_1", 0, at)
		again(t, b, func() error { return applied(b.DeadLetters.Create(t.Context(), want)) })
		other := Letter("msg_1", "webhook_1", 0, at.Add(time.Minute))
		if ok, err := b.DeadLetters.Create(t.Context(), other); ok || err != nil {
			t.Errorf("created twice: %v, %v", ok, err)
		}
		wantLetter(t, b, "stored", want)
		if _, found, err := b.DeadLetters.Get(t.Context(), "msg_2"); found || err != nil {
			t.Errorf("found what is not there: %v", err)
		}
	}},
	{"a first death in a later life counts its replays", func(t testing.TB, b Backend) {
		want := Letter("msg_1", "webhook_1", 2, at)
		r := want
		r.ReplayCount = 0
		r.Status = deadletter.Replayed
		r.UpdatedAt = at.Add(-time.Hour)
		bury(t, b, r)
		wantLetter(t, b, "stored", want)
	}},
	{"a further death is added once, in its turn", func(t testing.TB, b Backend) {
		second := Letter("msg_1", "webhook_1", 1, at.Add(time.Hour))
		second.Reason, second.Sealed.Body = delivery.ReasonTimeout, nil
		refused := func(doing string, r deadletter.Record, n int, seen deadletter.Record) {
			t.Helper()
			ok, got, err := b.DeadLetters.Append(t.Context(), r, n)
			if diff := cmp.Diff(seen, got); ok || err != nil || diff != "" {
				t.Errorf("%s: %v, %v, seen (-want +got)\n%s", doing, ok, err, diff)
			}
		}
		refused("to nothing", second, 2, deadletter.Record{})
		first := Letter("msg_1", "webhook_1", 0, at)
		bury(t, b, first)
		refused("sealed as the third", second, 3, first)
		again(t, b, func() error {
			ok, _, err := b.DeadLetters.Append(t.Context(), second, 2)
			return applied(ok, err)
		})
		want := second                       // the latest death, with the first one's body
		want.ReplayCount = first.ReplayCount // a claim counts replays
		want.Sealed.Body = first.Sealed.Body
		want.Sealed.History = append(first.Sealed.History, second.Sealed.History...)
		wantLetter(t, b, "added", want)
		refused("the same life", Letter("msg_1", "webhook_1", 1, at.Add(2*time.Hour)), 3, want)
		refused("an earlier life", Letter("msg_1", "webhook_1", 0, at), 3, want)
	}},
	{"there is room for the largest body and every replay", func(t testing.TB, b Backend) {
		r := Letter("msg_1", "webhook_1", 0, at)
		r.Sealed.Body = bytes.Repeat([]byte("x"), 278_528+250)
		r.Sealed.History[0].Sealed = bytes.Repeat([]byte("h"), 500)
		bury(t, b, r)
		for replay := 1; replay <= deadletter.MaxReplays; replay++ {
			next := Letter("msg_1", "webhook_1", replay, at)
			next.Sealed.History[0].Sealed = bytes.Repeat([]byte("h"), 500)
			if ok, _, err := b.DeadLetters.Append(t.Context(), next, replay+1); !ok || err != nil {
				t.Fatalf("death %d: %v, %v", replay, ok, err)
			}
		}
		got := letter(t, b, "msg_1")
		if len(got.Sealed.History) != deadletter.MaxReplays+1 || len(got.Sealed.Body) != 278_528+250 {
			t.Errorf("%d deaths, %d bytes", len(got.Sealed.History), len(got.Sealed.Body))
		}
	}},
	{"a claim is won by one of many", func(t testing.TB, b Backend) {
		bury(t, b, Letter("msg_1", "webhook_1", 0, at))
		seen := letter(t, b, "msg_1")
		var wait sync.WaitGroup
		won := make(chan int, 8)
		for range 8 { // of one operator, at the same moment
			wait.Go(func() {
				replay, _, ok, err := b.DeadLetters.Claim(t.Context(), seen, "ann", "", at.Add(time.Hour))
				if err != nil {
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
	}},
	{"a claim whose answer was lost holds until it is stale", func(t testing.TB, b Backend) {
		bury(t, b, Letter("msg_1", "webhook_1", 0, at))
		seen, now := letter(t, b, "msg_1"), at.Add(time.Hour)
		claimed := func(r deadletter.Record, now time.Time) string {
			replay, fresh, ok, err := b.DeadLetters.Claim(t.Context(), r, "ann", "job_1", now)
			return fmt.Sprint(replay, fresh, ok, err)
		}
		b.Unheard(func() {
			if _, _, ok, err := b.DeadLetters.Claim(t.Context(), seen, "ann", "job_1", now); ok || err == nil {
				t.Errorf("an answer that was lost: %v, %v", ok, err)
			}
		})
		if got := claimed(seen, now); got != "1 true false <nil>" {
			t.Errorf("as it was read before: %s", got)
		}
		want := seen
		want.Status = deadletter.Replaying
		want.ReplayCount = 1
		want.UpdatedAt = now
		want.JobID = "job_1"
		wantLetter(t, b, "claimed", want)
		if got := claimed(want, now.Add(deadletter.StaleClaim-time.Millisecond)); got != "0 false false <nil>" {
			t.Errorf("before it is stale: %s", got)
		}
		if got := claimed(want, now.Add(deadletter.StaleClaim)); got != "1 false true <nil>" {
			t.Errorf("once it is stale: %s", got)
		}
	}},
	{"a claim follows the life of a replay", func(t testing.TB, b Backend) {
		bury(t, b, Letter("msg_1", "webhook_1", 0, at))
		if replay := claim(t, b, "msg_1"); replay != 1 {
			t.Fatalf("replay %d", replay)
		}
		now := at.Add(time.Hour)
		for _, end := range []struct {
			replay int
			status deadletter.Status
		}{{2, deadletter.Dead}, {1, deadletter.Replayed}, {1, deadletter.Dead}} { // of another replay, and too late
			if err := b.DeadLetters.EndReplay(t.Context(), "msg_1", end.replay, end.status, now); err != nil {
				t.Error(err)
			}
		}
		replayed := letter(t, b, "msg_1")
		_, _, ok, err := b.DeadLetters.Claim(t.Context(), replayed, "bob", "", now.Add(time.Hour))
		if replayed.Status != deadletter.Replayed || ok || err != nil {
			t.Errorf("claimed a %s one: %v, %v", replayed.Status, ok, err)
		}
		if ok, _, err := b.DeadLetters.Append(t.Context(), Letter("msg_1", "webhook_1", 1, now), 2); !ok || err != nil {
			t.Errorf("dying again: %v, %v", ok, err)
		}
		if replay := claim(t, b, "msg_1"); replay != 2 {
			t.Errorf("the next replay is %d", replay)
		}
	}},
	{"a purge takes only what was read", func(t testing.TB, b Backend) {
		bury(t, b, Letter("msg_1", "webhook_1", 0, at))
		seen := letter(t, b, "msg_1")
		claim(t, b, "msg_1")
		if ok, err := b.DeadLetters.Purge(t.Context(), seen); ok || err != nil {
			t.Errorf("purged what changed: %v", err)
		}
		seen = letter(t, b, "msg_1")
		again(t, b, func() error { return applied(b.DeadLetters.Purge(t.Context(), seen)) })
		if _, found, _ := b.DeadLetters.Get(t.Context(), "msg_1"); found {
			t.Error("still there")
		}
	}},
	{"a record that cannot be read is an error", func(t testing.TB, b Backend) {
		bury(t, b, Letter("msg_1", "webhook_1", 0, at))
		b.Breaker.BreakLetter("msg_1")
		if r, _, err := b.DeadLetters.Get(t.Context(), "msg_1"); err == nil {
			t.Errorf("read %+v", r)
		}
		page := dynamo.LetterPage{Limit: 2}
		if all, _, err := b.DeadLetters.List(t.Context(), job.Selector{EndpointID: "webhook_1"}, page); err == nil {
			t.Errorf("listed %+v", all)
		}
	}},
	{"what is selected is listed in the order of deaths, in full pages", lists},
}
