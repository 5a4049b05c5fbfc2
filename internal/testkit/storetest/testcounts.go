package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// TestCounts is the store of the numbers of tests.
type TestCounts interface {
	CountTest(ctx context.Context, key dynamo.SiteKey, most int, now time.Time) (counted bool, err error)
}

func site(of string) dynamo.SiteKey { return dynamo.SiteKey{TenantID: "acme", Site: of} }

// counted asks for so many tests at a moment, and returns how many of them the store has allowed.
func counted(t testing.TB, b Backend, of dynamo.SiteKey, asked int, now time.Time) (allowed int) {
	t.Helper()
	for range asked {
		ok, err := b.TestCounts.CountTest(t.Context(), of, 5, now)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			allowed++
		}
	}
	return allowed
}

var testCountPromises = []Promise{
	{"a minute takes so many tests at a site, and no more", func(t testing.TB, b Backend) {
		minute := at.Truncate(time.Minute)
		for _, step := range []struct {
			of          string
			asked, want int
			now         time.Time
		}{
			{"one.example", 3, 3, minute}, {"one.example", 4, 2, minute.Add(time.Minute - 1)}, {"two.example", 6, 5, minute},
			{"one.example", 7, 5, minute.Add(time.Minute)}, {"one.example", 1, 0, minute}, // a late process has a slow clock
			{"one.example", 2, 2, minute.Add(time.Hour)},
		} {
			if got := counted(t, b, site(step.of), step.asked, step.now); got != step.want {
				t.Errorf("%s at %s: %d of %d, want %d", step.of, step.now, got, step.asked, step.want)
			}
		}
	}},
	{"tests of another tenant are counted apart, whatever its id", func(t testing.TB, b Backend) {
		for n, tenant := range names.Tenants() {
			of := dynamo.SiteKey{TenantID: tenant, Site: fmt.Sprint(n%2, ".example")}
			if got := counted(t, b, of, 6, at); got != 5 {
				t.Errorf("%s: %d are allowed", tenant, got)
			}
		}
	}},
	{"tests at one moment are all counted", func(t testing.TB, b Backend) {
		var all sync.WaitGroup
		var allowed, failed atomic.Int64
		for range 12 {
			all.Go(func() {
				ok, err := b.TestCounts.CountTest(t.Context(), site("one.example"), 5, at)
				if err != nil {
					failed.Add(1)
				}
				if ok {
					allowed.Add(1)
				}
			})
		}
		all.Wait()
		if allowed.Load() != 5 || failed.Load() > 0 {
			t.Errorf("%d are allowed, %d failed", allowed.Load(), failed.Load())
		}
	}},
	{"a test counts although its answer was lost", func(t testing.TB, b Backend) {
		b.Unheard(func() {
			if _, err := b.TestCounts.CountTest(t.Context(), site("one.example"), 5, at); err == nil {
				t.Error("the caller of a write whose answers were lost heard nothing of it")
			}
		})
		if got := counted(t, b, site("one.example"), 5, at); got > 4 {
			t.Errorf("%d more are allowed", got)
		}
	}},
}
