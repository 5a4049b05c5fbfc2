package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func checksURLs(t testing.TB, b Backend) {
	const victim = "https://victim.example/"
	taken := errors.New("taken")
	once := func(live []endpoint.Endpoint) error {
		if slices.ContainsFunc(live, func(e endpoint.Endpoint) bool { return e.URL == victim }) {
			return taken
		}
		return nil
	}
	const n = 4
	var made, deleted []endpoint.Endpoint
	for i := range n {
		e := Endpoint("acme", at.Add(time.Duration(i)*time.Second))
		e.URL = "https://example.com/" + e.ID
		if err := b.Endpoints.Create(t.Context(), e, once); err != nil {
			t.Fatal(err)
		}
		made = append(made, e)
		e = Endpoint("acme", at)
		e.URL = victim
		if err := b.Endpoints.Create(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		deleted = append(deleted, replace(t, b, e, gone(e, at)))
	}
	errs := make([]error, 3*n)
	var wait sync.WaitGroup
	for i := range n {
		created, moved := Endpoint("acme", at.Add(time.Hour)), same(made[i])
		created.URL, moved.URL = victim, victim
		wait.Go(func() {
			errs[i] = patiently(func() error { return b.Endpoints.Create(t.Context(), created, once) })
		})
		wait.Go(func() {
			errs[n+i] = patiently(func() error { return b.Endpoints.Readdress(t.Context(), made[i], moved, once) })
		})
		wait.Go(func() {
			errs[2*n+i] = patiently(func() error {
				return b.Endpoints.Readdress(t.Context(), deleted[i], back(deleted[i]), once)
			})
		})
	}
	wait.Wait()
	set := 0
	for _, err := range errs {
		switch {
		case err == nil:
			set++
		case !errors.Is(err, taken):
			t.Error(err)
		}
	}
	if set != 1 {
		t.Errorf("the URL was set %d times: %s", set, strings.ReplaceAll(fmt.Sprint(errs), "taken ", ""))
	}
}

func checksTokenURLs(t testing.TB, b Backend) {
	e := Endpoint("acme", at)
	e.OAuth = &endpoint.OAuth{TokenURL: "https://id.example/", ClientID: "a", Method: endpoint.ClientSecretPost}
	e.OAuthVersion, e.SealedOAuth = 1, []byte("sealed")
	if err := b.Endpoints.Create(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	var told []string
	look := func(live []endpoint.Endpoint) error {
		for _, e := range live {
			told = append(told, e.TokenURL())
		}
		return nil
	}
	other := Endpoint("acme", at.Add(time.Second))
	other.URL = "https://example.com/other"
	err := b.Endpoints.Create(t.Context(), other, look)
	if err != nil || !slices.Equal(told, []string{"https://id.example/"}) {
		t.Errorf("told of %q, %v", told, err)
	}
}
