package backlog

import (
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

var at = time.Date(2026, 2, 3, 4, 5, 6, 789_000_001, time.UTC)

func message() delivery.Message {
	return delivery.Message{
		Ref: delivery.Ref{
			DeliveryID: "msg_1", TenantID: "t", EndpointID: "webhook_1", EventID: "e", CreatedAt: at, Replay: 2,
		},
		Body: []byte(`{"type":"user.created","data":{}}`),
	}
}

func TestNew_storesWhatFollows(t *testing.T) {
	life := delivery.Life{StartedAt: at, DueAt: at.Add(time.Hour), Reason: delivery.ReasonHTTP5xx, Status: 503}
	move := delivery.Move{
		To: delivery.ToBacklog, Attempts: 4, Due: at.Add(time.Minute), Held: true, NotBefore: at, Life: life,
	}
	got := New(message(), move, at, "random")
	want := Item{
		Key: Key{
			EndpointID: "webhook_1", Shard: Shard("msg_1"), Position: "2026-02-03T04:05:06.789Z#msg_1#2#random",
		},
		Message:   message(),
		StoredAt:  at.Truncate(time.Millisecond),
		DueAt:     at.Add(time.Minute).Truncate(time.Millisecond).Add(time.Millisecond),
		Held:      true,
		NotBefore: at.Truncate(time.Millisecond).Add(time.Millisecond),
	}
	want.Message.Attempts, want.Message.Life = 4, life
	want.Message.CreatedAt = at.Truncate(time.Millisecond)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestItem_Replaces_onlyAnEarlierPut(t *testing.T) {
	var got []bool
	for _, later := range []time.Duration{-time.Hour, -time.Millisecond, 0, time.Millisecond, time.Hour} {
		got = append(got, Item{StoredAt: at.Add(later), Held: true}.Replaces(Item{StoredAt: at}))
	}
	if diff := cmp.Diff([]bool{false, false, false, true, true}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The table in the package comment says what the rules do.
func TestItem_storedRulesAreTheTableOfTheComment(t *testing.T) {
	read := Item{StoredAt: at}
	table := "| call | none is stored | one of an earlier put | one of the same put | one of a later put |\n" +
		"|---|---|---|---|---|\n"
	for _, row := range []struct {
		call string
		rule func(i, stored Item) bool
	}{
		{"put", Item.Replaces},
		{"deletion, or putting back for the schedule", Item.SamePut},
	} {
		table += "| " + row.call + " |"
		for _, stored := range []Item{
			{}, {StoredAt: at.Add(-time.Millisecond)}, read, {StoredAt: at.Add(time.Millisecond)},
		} {
			table += map[bool]string{true: " yes |", false: " no |"}[row.rule(read, stored)]
		}
		table += "\n"
	}
	doc, err := os.ReadFile("backlog.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(doc), "//\t", ""), table) {
		t.Errorf("the package comment lacks the table\n%s", table)
	}
}

func TestItem_Waiting(t *testing.T) {
	i := Item{StoredAt: at, DueAt: at.Add(time.Hour), Held: true, NotBefore: at.Add(time.Minute)}
	i.Message.Life = delivery.Life{StartedAt: at.Add(-time.Hour), DueAt: at.Add(time.Second)}
	want := circuit.Waiting{Held: true, StoredAt: at, DueAt: at.Add(time.Second), NotBefore: at.Add(time.Minute)}
	for attempts := 8; attempts <= 10; attempts++ {
		i.Message.Attempts, want.Last = attempts, attempts >= 9
		if diff := cmp.Diff(want, i.Waiting(retry.Schedule{MaxRetries: 9})); diff != "" {
			t.Errorf("after %d attempts (-want +got)\n%s", attempts, diff)
		}
	}
}

func TestItem_PutBack_waitsForItsScheduleAndRetryAfter(t *testing.T) {
	due := at.Truncate(time.Millisecond).Add(time.Hour)
	i := Item{DueAt: at.Add(7 * 24 * time.Hour), Held: true}
	i.Message.Life.DueAt = due
	if got := i.PutBack(); got.Held || !got.DueAt.Equal(due) {
		t.Errorf("held %v, due %s, want %s", got.Held, got.DueAt, due)
	}
	i.NotBefore = due.Add(time.Hour)
	if got := i.PutBack(); !got.DueAt.Equal(i.NotBefore) {
		t.Errorf("due %s before Retry-After, %s", got.DueAt, i.NotBefore)
	}
}

// If these changed, items that are stored already would be looked for in the wrong place.
func TestShard_andDueShardAreForEver(t *testing.T) {
	got := []int{Shard("msg_7ksudkawegs6rg6tljk3qdfoulwgebc2"), Shard("msg_1"), Key{Position: "p"}.DueShard()}
	if diff := cmp.Diff([]int{7, 2, 15}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestShard_spreadsDeliveriesEvenly(t *testing.T) {
	var shards, due [16]int
	for n := range 16_000 {
		id := delivery.ID("t", strings.Repeat("e", n%7)+time.Unix(int64(n), 0).String(), "webhook_1", delivery.Content{})
		shards[Shard(id)]++
		due[Key{Position: position(delivery.Ref{DeliveryID: id, CreatedAt: at}, "r")}.DueShard()]++
	}
	for n := range 16 {
		if n < Shards && (shards[n] < 1_800 || shards[n] > 2_200) || n >= Shards && shards[n] != 0 {
			t.Errorf("shard %d has %d of 16,000", n, shards[n])
		}
		if due[n] < 850 || due[n] > 1_150 {
			t.Errorf("due-shard %d has %d of 16,000", n, due[n])
		}
	}
}

func TestPosition_readsBackAndSortsByAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := rapid.Custom(func(t *rapid.T) delivery.Ref {
			return delivery.Ref{
				DeliveryID: rapid.StringMatching(`msg_[a-z2-7]{1,32}`).Draw(t, "id"),
				CreatedAt:  time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "created")).UTC(),
				Replay:     rapid.IntRange(0, 1000).Draw(t, "replay"),
			}
		})
		random := rapid.StringMatching(`[A-Z2-7]{8,26}`)
		a, b := ref.Draw(t, "a"), ref.Draw(t, "b")
		pa, pb := position(a, random.Draw(t, "ra")), position(b, random.Draw(t, "rb"))
		for p, want := range map[string]delivery.Ref{pa: a, pb: b} {
			if got, err := Parse(p); err != nil || got != want {
				t.Fatalf("%q: %+v, %v; want %+v", p, got, err, want)
			}
		}
		if a.CreatedAt.Before(b.CreatedAt) && !sort.StringsAreSorted([]string{pa, Before(b.CreatedAt), pb}) {
			t.Fatalf("%q is not before %q", pa, pb)
		}
	})
}

func TestParse_refusesWhatPositionDidNotMake(t *testing.T) {
	for _, position := range []string{
		"", "x", "2026-02-03T04:05:06.789Z", "2026-02-03T04:05:06.789Z#", "2026-02-03T04:05:06.789Z#msg_1",
		"2026-02-03T04:05:06.789Z#msg_1#r", "2026-02-03T04:05:06.789Z#msg_1#x#r", "2026-02-03T04:05:06.789Z##0#r",
		"2026-02-03T04:05:06.789Z#msg_1#-1#r", "2026-13-03T04:05:06.789Z#msg_1#0#r",
		"2026-02-03T04:05:06.789Z-msg_1#0#r",
	} {
		if got, err := Parse(position); err != ErrPosition { //nolint:errorlint // returned as it is
			t.Errorf("%q: %+v, %v", position, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2026-02-03T04:05:06.789Z#msg_1#2#random")
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := Parse(text)
		if err != nil {
			return
		}
		random := text[strings.LastIndexByte(text, '#')+1:]
		again, err := Parse(position(ref, random))
		if err != nil || again != ref {
			t.Errorf("%q: %+v, then %+v, %v", text, ref, again, err)
		}
	})
}

func TestCeil_isNeverEarlyAndWithinAMillisecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(0, rapid.Int64Range(1, 4e18).Draw(t, "at"))
		got := Ceil(at)
		late := got.Sub(at)
		if late < 0 || late >= time.Millisecond || got.Nanosecond()%1e6 != 0 {
			t.Fatalf("%s becomes %s", at, got)
		}
	})
	if !Ceil(time.Time{}).IsZero() {
		t.Error("no time becomes one")
	}
}
