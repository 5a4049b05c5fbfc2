package model

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func waiting(id string, created, due time.Duration) backlog.Item {
	now := time.Now()
	m := delivery.Message{Ref: delivery.Ref{DeliveryID: id, EndpointID: "webhook_1", CreatedAt: now.Add(created)}}
	return backlog.New(m, delivery.Move{Due: now.Add(due), Held: true}, now, "00000001")
}

func TestBacklog_ReadShard_goesOnBehindAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBacklog()
		shard, want := backlog.Shard("msg_1"), []string{}
		for n := range 7 { // one shard: the same id, of messages that were created one after the other
			i := waiting("msg_1", time.Duration(6-n)*time.Second, 0)
			b.Set(i, time.Now())
			want = append(want, i.Position)
		}
		slices.Sort(want)
		var got []string
		for after := ""; ; {
			page := b.ReadShard("webhook_1", shard, after, 3)
			for _, i := range page.Items {
				got = append(got, i.Position)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read (-want +got)\n%s", diff)
		}
	})
}

func TestBacklog_Due_goesOnBehindAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, want, got := NewBacklog(), []string{}, []string{}
		first := waiting("msg_1", 0, 0)
		for n := range 40 {
			i := waiting("msg_1", time.Duration(n)*time.Second, time.Duration(n)*time.Second)
			b.Set(i, time.Now())
			if i.DueShard() == first.DueShard() {
				want = append(want, i.Position)
			}
		}
		for cursor := ""; ; {
			due, next, _ := b.Due(first.DueShard(), time.Now().Add(time.Hour), 2, cursor)
			for _, d := range due {
				got = append(got, d.Position)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 3 {
			t.Errorf("due (-want +got)\n%s", diff)
		}
	})
}

// The index hears of a put, a put-back and a deletion only after Lag. A read by key sees each at once.
func TestBacklog_Due_hearsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBacklog()
		b.Lag = 3 * time.Second
		i := waiting("msg_1", 0, 2*time.Hour)
		found := func() int {
			due, _, _ := b.Due(i.DueShard(), time.Now().Add(time.Hour), 10, "")
			return len(due)
		}
		b.Set(i, time.Now())
		sooner := i
		sooner.DueAt = time.Now()
		b.PutBack(sooner, time.Now())
		got := []int{found()}
		time.Sleep(b.Lag)
		got = append(got, found())
		if err := b.Delete(i, time.Now()); err != nil {
			t.Error(err)
		}
		got = append(got, found())
		time.Sleep(b.Lag)
		got = append(got, found())
		if diff := cmp.Diff([]int{0, 1, 1, 0}, got); diff != "" {
			t.Errorf("found by due time (-want +got)\n%s", diff)
		}
		if page := b.BatchGet([]backlog.Key{i.Key}); len(page.Items) != 0 || b.PutBack(i, time.Now()) {
			t.Errorf("found by key after its deletion: %v", page.Items)
		}
	})
}
