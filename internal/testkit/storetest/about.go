package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// telling is e as another request stores it with what its owner says, and says whether there is a row of that.
func telling(e endpoint.Endpoint, about endpoint.About) endpoint.Endpoint {
	e = same(e)
	e.About, e.AboutRow = about, about.Row()
	return e
}

// wantAbout wants what the owners of acme's endpoints say, whether the endpoints say that there is a row or nothing.
func wantAbout(t testing.TB, b Backend, doing string, want ...endpoint.Endpoint) {
	t.Helper()
	for _, known := range []bool{true, false} {
		var asked []endpoint.Endpoint
		for _, e := range want {
			e.About = endpoint.About{}
			if !known {
				e.AboutRow = endpoint.AboutUnknown
			}
			asked = append(asked, e)
		}
		got, err := b.Endpoints.About(t.Context(), asked...)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s, known %v: %v (-want +got):\n%s", doing, known, err, diff)
		}
	}
}

func saysAbout(t testing.TB, b Backend) {
	said := endpoint.About{Contact: "ann@example.com", Metadata: map[string]string{"crm": "7", "ä": ""}}
	e, silent := telling(Endpoint("acme", at), said), telling(Endpoint("acme", at), endpoint.About{})
	for _, made := range []endpoint.Endpoint{e, silent} {
		if err := b.Endpoints.Create(t.Context(), made, nil); err != nil {
			t.Fatal(err)
		}
	}
	limited := same(e)
	limited.RateLimit = 5
	moved := telling(limited, endpoint.About{Contact: "bob@example.com", Metadata: map[string]string{"crm": "8"}})
	moved.URL = "https://second.example"
	deleted := gone(moved, at)
	restored := back(deleted)
	hushed := telling(restored, endpoint.About{})
	for was, now := range steps(e, limited, moved, deleted, restored, hushed, gone(hushed, at)) {
		wantEndpoint(t, b, "before", was)
		wantAbout(t, b, "alone", was)
		k := dynamo.EndpointKey{TenantID: was.TenantID, EndpointID: was.ID}
		read, err := b.Reader.Read(t.Context(), []dynamo.EndpointKey{k}, nil)
		if err != nil || !read[k].Endpoint.About.Empty() {
			t.Errorf("%s is read with what its owner says: %v", was.ID, err)
		}
		wantAbout(t, b, "beside another", was, silent)
		if now.URL == was.URL {
			replace(t, b, was, now)
		} else if err := b.Endpoints.Readdress(t.Context(), was, now, free); err != nil {
			t.Fatal(err)
		}
		wantAbout(t, b, string(now.Status), now)
	}
	if err := b.Endpoints.Replace(t.Context(), e, telling(e, said)); !errors.Is(err, dynamo.ErrConflict) {
		t.Errorf("said of what has changed: %v", err)
	}
	wantAbout(t, b, "after a conflict", silent)
	hidesLeftAbout(t, b)
}

// A row that an endpoint says it has not is not shown, although it is read with the rows of others.
func hidesLeftAbout(t testing.TB, b Backend) {
	said := endpoint.About{Contact: "ann@example.com"}
	var all []endpoint.Endpoint
	for n := range 3 {
		e := telling(Endpoint("acme", at.Add(time.Duration(n)*time.Second)), said)
		if err := b.Endpoints.Create(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	between := telling(all[1], endpoint.About{})
	unread := all[1]
	unread.About = endpoint.About{}
	replace(t, b, unread, between) // leaves the row
	got, err := b.Endpoints.About(t.Context(), all[0], between, all[2])
	if diff := cmp.Diff([]endpoint.Endpoint{all[0], between, all[2]}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
