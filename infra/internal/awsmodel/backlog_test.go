package awsmodel

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/delivery"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func parked(id string, created, due time.Duration) backlog.Item {
	m := delivery.Message{Ref: delivery.Ref{DeliveryID: id, EndpointID: "webhook_1", CreatedAt: noon.Add(created)}}
	return backlog.New(m, delivery.Next{Due: noon.Add(due)}, noon, "parking")
}

func TestBacklog_ReadShard_goesOnBehindAPage(t *testing.T) {
	b := NewBacklog()
	shard, want := backlog.Shard("msg_1"), []string{}
	for n := range 7 { // one shard: the same id, of messages that were created one after the other
		i := parked("msg_1", time.Duration(6-n)*time.Second, 0)
		b.Put(i, noon)
		want = append(want, i.Position)
	}
	slices.Sort(want)
	b.Put(parked("msg_2", 0, 0), noon)
	var got []string
	for after := ""; ; {
		page := b.ReadShard("webhook_1", shard, after, 3)
		for _, i := range page.Items {
			if i.Message.DeliveryID == "msg_1" {
				got = append(got, i.Position)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got)\n%s", diff)
	}
}

// What is put, dated anew and deleted is found by its due time only Lag later; by its key, at once.
func TestBacklog_Due_hearsLater(t *testing.T) {
	b := NewBacklog()
	b.Lag = 3 * time.Second
	i := parked("msg_1", 0, time.Minute)
	found := func(at time.Duration) int {
		return len(b.Due(i.DueShard(), noon.Add(time.Hour), 10, noon.Add(at)))
	}
	if at := b.NextHeard(noon); !at.IsZero() {
		t.Errorf("an index that knows everything hears more at %s", at)
	}
	b.Put(i, noon)
	if at := b.NextHeard(noon.Add(time.Second)); !at.Equal(noon.Add(3 * time.Second)) {
		t.Errorf("it hears of what was put at %s", at)
	}
	got := []int{found(0), found(3 * time.Second)}
	b.Redate(i.Key, noon.Add(2*time.Hour), true, noon.Add(10*time.Second))
	got = append(got, found(10*time.Second), found(13*time.Second))
	b.Redate(i.Key, noon, false, noon.Add(20*time.Second))
	b.Delete(i.Key, noon.Add(30*time.Second))
	got = append(got, found(30*time.Second), found(33*time.Second))
	if diff := cmp.Diff([]int{0, 1, 1, 0, 1, 0}, got); diff != "" {
		t.Errorf("found by due time (-want +got)\n%s", diff)
	}
	if page := b.BatchGet([]backlog.Key{i.Key}); len(page.Items) != 0 || b.Redate(i.Key, noon, true, noon) {
		t.Errorf("found by key after its deletion: %v", page.Items)
	}
}
