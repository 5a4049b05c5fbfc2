package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

var endpointPromises = []Promise{
	{"an endpoint is read whole, in every status", func(t testing.TB, b Backend) {
		e := create(t, b, "acme", at)
		wantEndpoint(t, b, "made", e)
		changed := same(e)
		changed.Description = "ä"
		changed.Status = endpoint.Disabled
		changed.SecretRotatedAt = at.Add(time.Second)
		bare := same(changed)
		bare.Description, bare.SecretRotatedAt = "", time.Time{}
		deleted := gone(bare, at.Add(time.Minute))
		rotated := same(deleted)
		rotated.SecretVersion, rotated.SealedSecret = 2, []byte("sealed again")
		for was, now := range steps(e, changed, bare, deleted, rotated, back(rotated)) {
			wantEndpoint(t, b, string(now.Status), replace(t, b, was, now))
			all, err := b.Endpoints.List(t.Context(), "acme")
			if diff := cmp.Diff([]endpoint.Endpoint{now}, all); err != nil || diff != "" {
				t.Errorf("listed: %v (-want +got):\n%s", err, diff)
			}
			if now.Live() {
				wantLive(t, b, 1, 1)
			} else {
				wantLive(t, b, 0, 1)
			}
		}
		if _, found, err := b.Endpoints.Get(t.Context(), "globex", e.ID); found || err != nil {
			t.Errorf("another tenant finds it: %v", err)
		}
	}},
	{"a change that is asked for again is no refusal", func(t testing.TB, b Backend) {
		e := Endpoint("acme", at)
		again(t, b, func() error { return b.Endpoints.Create(t.Context(), e, nil) })
		moved := same(e)
		moved.URL = "https://second.example"
		again(t, b, func() error { return b.Endpoints.Readdress(t.Context(), e, moved, free) })
		changed := telling(moved, endpoint.About{Contact: "ann@example.com"})
		deleted := gone(changed, at)
		restored := back(deleted)
		for was, now := range steps(moved, changed, deleted, restored, gone(restored, at)) {
			again(t, b, func() error { return b.Endpoints.Replace(t.Context(), was, now) })
			wantEndpoint(t, b, string(now.Status), now)
		}
		wantLive(t, b, 0, 1)
		for range endpoint.MaxLive { // and nothing was counted twice
			create(t, b, "acme", at)
		}
	}},
	{"a change of what has changed is a conflict", func(t testing.TB, b Backend) {
		e := create(t, b, "acme", at)
		first, second := same(e), same(e)
		first.URL, second.Description = "https://first.example", "second"
		replace(t, b, e, first)
		never, deleted := Endpoint("acme", at), gone(first, at)
		for name, err := range map[string]error{
			"a change":                  b.Endpoints.Replace(t.Context(), e, second),
			"a deletion":                b.Endpoints.Replace(t.Context(), e, gone(e, at)),
			"a new address":             b.Endpoints.Readdress(t.Context(), e, second, free),
			"a change of nothing":       b.Endpoints.Replace(t.Context(), never, same(never)),
			"a deletion of nothing":     b.Endpoints.Replace(t.Context(), never, gone(never, at)),
			"a restoration of the live": b.Endpoints.Replace(t.Context(), deleted, back(deleted)),
			"a second of its id":        b.Endpoints.Create(t.Context(), same(first), nil),
		} {
			if !errors.Is(err, dynamo.ErrConflict) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantEndpoint(t, b, "afterwards", first)
		wantLive(t, b, 1, 1)
	}},
	{"fifty are live, however many are made at once", func(t testing.TB, b Backend) {
		var deleted []endpoint.Endpoint
		for n := range 15 {
			e := create(t, b, "acme", at.Add(time.Duration(n)*time.Millisecond))
			deleted = append(deleted, replace(t, b, e, gone(e, at.Add(time.Minute))))
		}
		errs := make([]error, 70)
		var wait sync.WaitGroup
		slots := make(chan struct{}, 8)
		for n := range errs {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				if n < len(deleted) {
					errs[n] = patiently(func() error { return b.Endpoints.Replace(t.Context(), deleted[n], back(deleted[n])) })
					return
				}
				made := Endpoint("acme", at.Add(time.Hour))
				errs[n] = patiently(func() error { return b.Endpoints.Create(t.Context(), made, nil) })
			})
		}
		wait.Wait()
		made := 0
		for _, err := range errs {
			switch {
			case err == nil:
				made++
			case !errors.Is(err, dynamo.ErrLimit):
				t.Errorf("unexpected: %v", err)
			}
		}
		all, err := b.Endpoints.List(t.Context(), "acme")
		if made != endpoint.MaxLive || err != nil {
			t.Errorf("%d succeeded, %v", made, err)
		}
		wantLive(t, b, endpoint.MaxLive, len(all))
		create(t, b, "globex", at) // another tenant does not notice
	}},
	{"a lower bound takes no more, and leaves what is there", func(t testing.TB, b Backend) {
		all := make([]endpoint.Endpoint, 5)
		for n := range all {
			all[n] = create(t, b, "acme", at)
		}
		for left := len(all); left > 2; left-- {
			if err := b.AtMostThree.Create(t.Context(), Endpoint("acme", at), free); !errors.Is(err, dynamo.ErrLimit) {
				t.Errorf("beside %d: %v, want the limit", left, err)
			}
			changed := same(all[left-1])
			if err := b.AtMostThree.Readdress(t.Context(), all[left-1], changed, free); err != nil {
				t.Errorf("one of %d is moved: %v", left, err)
			}
			replace(t, b, changed, gone(changed, at))
		}
		if err := b.AtMostThree.Create(t.Context(), Endpoint("acme", at), free); err != nil {
			t.Errorf("the third: %v", err)
		}
	}},
	{"of URLs that are set at once, each is checked beside those before it", checksURLs},
	{"a check of URLs is told where tokens come from", checksTokenURLs},
	{"a change that was overtaken since its check is busy, at the limit, too", func(t testing.TB, b Backend) {
		other, e := create(t, b, "acme", at), create(t, b, "acme", at)
		for range endpoint.MaxLive - 2 {
			create(t, b, "acme", at)
		}
		overtaken := func([]endpoint.Endpoint) error { // between the check and the write
			return b.Endpoints.Readdress(t.Context(), other, same(other), free)
		}
		if err := b.Endpoints.Readdress(t.Context(), e, same(e), overtaken); !errors.Is(err, dynamo.ErrBusy) {
			t.Errorf("%v, want that it is busy", err)
		}
		wantEndpoint(t, b, "overtaken", e)
		if err := b.Endpoints.Create(t.Context(), Endpoint("acme", at), free); !errors.Is(err, dynamo.ErrLimit) {
			t.Errorf("%v, want the limit", err)
		}
	}},
	{"the longest deleted are pruned, beyond a hundred and fifty", func(t testing.TB, b Backend) {
		most := endpoint.MaxDeleted
		said := endpoint.About{Contact: "ann@example.com"}
		var ids []string
		var stays, last endpoint.Endpoint
		for n := range most + 1 {
			e := create(t, b, "acme", at)
			if n >= most-1 {
				e = replace(t, b, e, telling(e, said))
			}
			last = replace(t, b, e, gone(e, at.Add(-time.Duration(n)*time.Hour)))
			ids = append(ids, e.ID)
			if n == most-1 {
				stays = last
			}
		}
		live := create(t, b, "acme", at)
		for range 2 { // the second time there is nothing to remove
			surplus, err := b.Endpoints.Surplus(t.Context(), "acme")
			if err != nil {
				t.Fatal(err)
			}
			prune(t, b, surplus...)
			for id, want := range map[string]bool{ids[most]: false, ids[most-1]: true, ids[0]: true, live.ID: true} {
				if _, found, err := b.Endpoints.Get(t.Context(), "acme", id); err != nil || found != want {
					t.Errorf("%s is there: %v, want %v (%v)", id, found, want, err)
				}
			}
			wantLive(t, b, 1, most+1)
		}
		wantAbout(t, b, "of one that stays", stays)
		wantAbout(t, b, "of the pruned", telling(last, endpoint.About{}))
	}},
	{"what its owner says of an endpoint is read apart, and stays until it is changed", saysAbout},
	{"an endpoint that is restored before it is pruned stays", func(t testing.TB, b Backend) {
		e := create(t, b, "acme", at)
		surplus := replace(t, b, e, gone(e, at))
		restored := replace(t, b, surplus, back(surplus))
		again := gone(restored, surplus.DeletedAt)
		replace(t, b, restored, again)
		prune(t, b, surplus)
		wantEndpoint(t, b, "restored, and deleted again", again)
	}},
	{"subscriptions are the ids and events of the active", func(t testing.TB, b Backend) {
		var all []endpoint.Endpoint
		for n := range 3 {
			all = append(all, create(t, b, "acme", at.Add(time.Duration(n)*time.Second)))
		}
		disabled := same(all[1])
		disabled.Status = endpoint.Disabled
		replace(t, b, all[1], disabled)
		replace(t, b, all[2], gone(all[2], at))
		active, err := b.Endpoints.Subscriptions(t.Context(), "acme")
		want := []endpoint.Endpoint{{TenantID: "acme", ID: all[0].ID, Events: all[0].Events, Status: endpoint.Active}}
		if diff := cmp.Diff(want, active); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}},
	{"a row that cannot be read hides no other, but no event is fanned out to some", func(t testing.TB, b Backend) {
		broken, want := create(t, b, "acme", at), create(t, b, "acme", at)
		b.Breaker.BreakEndpoint(dynamo.EndpointKey{TenantID: "acme", EndpointID: broken.ID})
		all, err := b.Endpoints.List(t.Context(), "acme")
		if diff := cmp.Diff([]endpoint.Endpoint{want}, all); diff != "" || !errors.Is(err, endpoint.ErrUnreadable) {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		if _, err := b.Endpoints.Subscriptions(t.Context(), "acme"); !errors.Is(err, endpoint.ErrUnreadable) {
			t.Errorf("subscriptions: %v", err)
		}
		if _, _, err := b.Endpoints.Get(t.Context(), "acme", broken.ID); !errors.Is(err, endpoint.ErrUnreadable) {
			t.Errorf("the row itself: %v", err)
		}
	}},
	{"the live of all tenants are on pages, each once, the unreadable with their keys alone", showsSubscribers},
	{"all are listed by the time of their creation", func(t testing.TB, b Backend) {
		var want []string
		for n := range 6 {
			e := create(t, b, "acme", at.Add(time.Duration(n)*time.Second))
			if n%2 == 0 {
				replace(t, b, e, gone(e, at.Add(time.Hour)))
			}
			want = append(want, e.ID)
		}
		all, err := b.Endpoints.List(t.Context(), "acme")
		var got []string
		for _, e := range all {
			got = append(got, e.ID)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}},
}
