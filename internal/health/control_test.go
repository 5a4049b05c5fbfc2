package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestItem_Pause_and_Resume(t *testing.T) {
	now := epoch.Add(time.Hour)
	pausedItem := func(state State) Item {
		return stored(state, func(i *Item) { i.Paused, i.Held, i.NextProbe = true, true, now.Add(time.Minute) })
	}
	resumed := func(state State, change func(*Item)) Write {
		next := stored(state, func(i *Item) { i.Held, i.Version, i.Changed = true, now.UnixNano(), now })
		change(&next)
		return Write{Kind: Put, If: 7, Item: next}
	}
	for name, row := range map[string]struct {
		item    Item
		refusal Refusal
		want    Write
	}{
		"what is not paused is not resumed": {stored(Open, nil), NotPaused, Write{}},
		"a healthy one recovers":            {pausedItem(None), "", resumed(Recovering, func(i *Item) { i.Since = now })},
		"a recovering one starts anew": {
			pausedItem(Recovering), "", resumed(Recovering, func(i *Item) { i.Since = now }),
		},
		"an open one is probed at once": {pausedItem(Open), "", resumed(Open, func(i *Item) { i.NextProbe = now })},
		"a disabled one waits for its owner": {pausedItem(Disabled), "", resumed(Disabled, func(i *Item) {
			i.NextProbe = now.Add(time.Minute)
		})},
		"a tenant's item goes": {Item{TenantID: "tenant", Version: 7, Paused: true}, "",
			Write{Kind: Delete, If: 7, Item: Item{TenantID: "tenant", Version: 7, Changed: now}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, refusal := row.item.Resume(now)
			if diff := cmp.Diff(row.want, got); diff != "" || refusal != row.refusal {
				t.Errorf("refused as %q, want %q (-want +got)\n%s", refusal, row.refusal, diff)
			}
		})
	}
	if _, refusal := pausedItem(None).Pause(now); refusal != AlreadyPaused {
		t.Errorf("a second pause is refused as %q", refusal)
	}
	got, _ := stored(Open, nil).Pause(now)
	want := resumed(Open, func(i *Item) { i.Paused = true })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pause (-want +got)\n%s", diff)
	}
}

func TestView_Release_sendsWhatWaits(t *testing.T) {
	tenant := viewOf(stored(Open, nil))
	tenant.Tenant.Paused = true
	for name, row := range map[string]struct {
		view    View
		e       Endpoint
		refusal Refusal
	}{
		"from a healthy endpoint, too": {viewOf(Item{}), Endpoint{}, ""},
		"past an open circuit":         {viewOf(stored(Open, nil)), Endpoint{}, ""},
		"not past a pause":             {viewOf(stored(Open, func(i *Item) { i.Paused = true })), Endpoint{}, StillPaused},
		"nor its tenant's":             {tenant, Endpoint{}, TenantIsPaused},
		"nor its owner's wish":         {viewOf(stored(Disabled, nil)), Endpoint{Disabled: true}, StillDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			write, refusal := row.view.Release(row.e, epoch.Add(time.Hour))
			i := write.Item
			recovers := write.Kind == Put && i.State == Recovering && i.Held && i.Ordered
			if refusal != row.refusal || recovers != (refusal == "") {
				t.Errorf("refused as %q, %+v", refusal, write)
			}
		})
	}
}

func TestItem_Discard_isKeptForALife(t *testing.T) {
	w := newWorld()
	w = w.store(w.view.item().Discard(epoch, w.now))
	w = w.store(w.view.item().Discard(epoch.Add(-time.Hour), w.now)) // never less
	if got := w.view.Decide(Question{StartedAt: epoch.Add(-time.Second)}, w.now).Action; got != Dropped {
		t.Errorf("action %d", got)
	}
	for days, kept := range map[int]bool{7: true, 8: false} {
		later := w.after(time.Duration(days) * 24 * time.Hour).tick()
		if got := later.view.Endpoint.Version != 0; got != kept {
			t.Errorf("after %d days it is kept: %v", days, got)
		}
	}
}
