package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// AllMarks are one of each kind.
var AllMarks = endpoint.Marks{
	RateLimit: 20, LimitedAt: at.Add(-time.Minute), LimitedBy: "bob", LimitReason: "their quota",
	PausedAt: at, PausedBy: "ann", PauseReason: "asked for", ResumedAt: at.Add(-time.Hour),
	DiscardedBefore: at.Add(time.Second), ReleasedAt: at.Add(2 * time.Second),
}

// mark makes every mark of an endpoint or, where the id is "", of acme.
func mark(t testing.TB, b Backend, id string) {
	t.Helper()
	set := func(m *endpoint.Marks) bool { *m = AllMarks; return true }
	changed, got, err := b.Endpoints.Mark(t.Context(), key(id), set)
	if err != nil || !changed || got != AllMarks {
		t.Fatalf("marking: %v, %+v, %v", changed, got, err)
	}
}

func wantMarks(t testing.TB, b Backend, doing string, want endpoint.TenantMarks) {
	t.Helper()
	got, err := b.Endpoints.Marks(t.Context(), "acme")
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got)\n%s", doing, err, diff)
	}
}

var markPromises = []Promise{
	{"marks of a tenant and of its endpoints are kept apart", func(t testing.TB, b Backend) {
		first, second := create(t, b, "acme", at), create(t, b, "acme", at)
		want := endpoint.TenantMarks{Endpoints: map[string]endpoint.Marks{}}
		for _, id := range []string{first.ID, second.ID, ""} {
			if id == "" {
				want.Tenant = AllMarks
			} else {
				want.Endpoints[id] = AllMarks
			}
			mark(t, b, id)
			wantMarks(t, b, "marked", want)
		}
		other, err := b.Endpoints.Marks(t.Context(), "acm")
		if diff := cmp.Diff(endpoint.TenantMarks{}, other, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("another tenant's: %v (-want +got)\n%s", err, diff)
		}
		wantEndpoint(t, b, "the row has none", first)
	}},
	{"a change of nothing changes nothing, and shows the marks", func(t testing.TB, b Backend) {
		e := create(t, b, "acme", at)
		mark(t, b, e.ID)
		seen := endpoint.Marks{}
		changed, got, err := b.Endpoints.Mark(t.Context(), key(e.ID), func(m *endpoint.Marks) bool {
			seen = *m
			m.PausedBy = "nothing"
			return false
		})
		if changed || err != nil || got.ReleasedAt != AllMarks.ReleasedAt || seen != AllMarks {
			t.Errorf("%v, %+v, %v", changed, got, err)
		}
		wantMarks(t, b, "afterwards", endpoint.TenantMarks{Endpoints: map[string]endpoint.Marks{e.ID: AllMarks}})
	}},
	{"of many operators at once, one has paused", func(t testing.TB, b Backend) {
		heard := make([]bool, 4)
		var all sync.WaitGroup
		for n := range heard {
			all.Go(func() {
				var err error
				heard[n], _, err = b.Endpoints.Mark(t.Context(), key(""), func(m *endpoint.Marks) bool {
					return m.Pause(at, fmt.Sprint(n), "")
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		marks, err := b.Endpoints.Marks(t.Context(), "acme")
		for n := range heard {
			if by := marks.Tenant.PausedBy; err != nil || heard[n] != (by == fmt.Sprint(n)) {
				t.Errorf("operator %d is told %v, and %s has paused the tenant, %v", n, heard[n], by, err)
			}
		}
	}},
	{"marks outlast every change of the owner's, and go with the endpoint", func(t testing.TB, b Backend) {
		e := create(t, b, "acme", at)
		mark(t, b, e.ID)
		want := endpoint.TenantMarks{Tenant: AllMarks, Endpoints: map[string]endpoint.Marks{e.ID: AllMarks}}
		deleted := gone(e, at.Add(-time.Hour))
		restored := back(deleted)
		last := gone(restored, at.Add(-time.Hour))
		for was, now := range steps(e, same(e)) {
			e = replace(t, b, was, now)
		}
		for was, now := range steps(e, deleted, restored, last) {
			replace(t, b, was, now)
			mark(t, b, "") // another change of the marks
			wantMarks(t, b, string(now.Status), want)
		}
		prune(t, b, last)
		mark(t, b, "")
		wantMarks(t, b, "pruned", endpoint.TenantMarks{Tenant: AllMarks})
	}},
	{"marks that hold at a site outlast their endpoint, and are read with what comes", func(t testing.TB, b Backend) {
		e := create(t, b, "acme", at)
		held := endpoint.Marks{
			PausedAt: at, PausedBy: "ann", PauseSite: "example.com",
			RateLimit: 5, LimitedAt: at, LimitedBy: "bob", LimitSite: "example.com",
		}
		_, _, err := b.Endpoints.Mark(t.Context(), key(e.ID), func(m *endpoint.Marks) bool { *m = held; return true })
		if err != nil {
			t.Fatal(err)
		}
		prune(t, b, replace(t, b, e, gone(e, at)))
		mark(t, b, "") // another change of the marks
		wantMarks(t, b, "pruned", endpoint.TenantMarks{
			Tenant: AllMarks, Endpoints: map[string]endpoint.Marks{e.ID: held},
		})
		next := Endpoint("acme", at)
		next.ComeTo(at)
		if err := b.Endpoints.Create(t.Context(), next, nil); err != nil {
			t.Fatal(err)
		}
		read, err := b.Reader.Read(t.Context(), []dynamo.EndpointKey{key(next.ID)}, nil)
		if got := read[key(next.ID)].Endpoint.Marks; err != nil || got.PausedBy != "ann" || got.RateLimit != 5 {
			t.Errorf("read with %+v, %v", got, err)
		}
		free := func(m *endpoint.Marks) bool { m.PauseSite, m.LimitSite = "", ""; return true }
		if changed, _, err := b.Endpoints.Mark(t.Context(), key(e.ID), free); !changed || err != nil {
			t.Errorf("freed: %v, %v", changed, err)
		}
		mark(t, b, "")
		wantMarks(t, b, "freed", endpoint.TenantMarks{Tenant: AllMarks})
	}},
	{"marks that cannot be read are an error", func(t testing.TB, b Backend) {
		mark(t, b, "")
		b.Breaker.BreakMarks("acme")
		if marks, err := b.Endpoints.Marks(t.Context(), "acme"); !errors.Is(err, endpoint.ErrUnreadable) {
			t.Errorf("read %+v, %v", marks, err)
		}
		pause := func(m *endpoint.Marks) bool { return m.Pause(at, "ann", "") }
		if changed, _, err := b.Endpoints.Mark(t.Context(), key(""), pause); changed || err == nil {
			t.Errorf("marked: %v, %v", changed, err)
		}
	}},
}
