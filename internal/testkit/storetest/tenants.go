package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

var tenantPromises = []Promise{
	{"a tenant has its own items, however it is called", func(t testing.TB, b Backend) {
		tenants := names.Tenants()
		for n, tenant := range tenants {
			furnish(t, b, tenant, n)
		}
		slow, err := b.Circuits.SlowUntil(t.Context(), tenants)
		if err != nil || len(slow) != len(tenants) {
			t.Errorf("%d of %d owe time, %v", len(slow), len(tenants), err)
		}
		for n, tenant := range tenants {
			if want := at.Add(time.Duration(n+1) * time.Minute); !slow[tenant].Equal(want) {
				t.Errorf("%s owes until %s, want %s", tenant, slow[tenant], want)
			}
			wantFurnished(t, b, tenant, n)
		}
	}},
}

// furnish gives a tenant two keys, an endpoint, marks, a letter and time that it owes. All tell it from every other.
func furnish(t testing.TB, b Backend, tenant string, n int) {
	t.Helper()
	for later := range 2 {
		issue(t, b, tenant, at.Add(time.Duration(later)*time.Second))
	}
	create(t, b, tenant, at)
	pause := func(m *endpoint.Marks) bool { m.PausedAt, m.PausedBy = at, tenant; return true }
	of := key("")
	of.TenantID = tenant
	if _, _, err := b.Endpoints.Mark(t.Context(), of, pause); err != nil {
		t.Fatal(err)
	}
	died := Letter(fmt.Sprint("msg_", n), fmt.Sprint("webhook_", n), 0, at)
	died.TenantID = tenant
	bury(t, b, died)
	charge(t, b, tenant, time.Duration(n+1)*time.Minute)
}

// wantFurnished wants what furnish has stored of the tenant, and nothing of another. Lists are read in pages, whose
// cursors have the tenant's id.
func wantFurnished(t testing.TB, b Backend, tenant string, n int) {
	t.Helper()
	keys := pages(t, 1, func(cursor string) ([]apikey.Key, string, error) {
		return b.APIKeys.ListByTenant(t.Context(), tenant, 1, cursor)
	})
	for _, k := range keys {
		if k.TenantID != tenant {
			t.Errorf("a key of %s is listed for %s", k.TenantID, tenant)
		}
	}
	all, err := b.Endpoints.List(t.Context(), tenant)
	if err != nil || len(keys) != 2 || len(all) != 1 || all[0].TenantID != tenant {
		t.Errorf("%s has %d keys and the endpoints %v, %v", tenant, len(keys), all, err)
	}
	marks, err := b.Endpoints.Marks(t.Context(), tenant)
	if err != nil || marks.Tenant.PausedBy != tenant {
		t.Errorf("%s is paused by %q, %v", tenant, marks.Tenant.PausedBy, err)
	}
	letters := listed(t, b, job.Selector{TenantID: tenant}, dynamo.LetterPage{Limit: 1, OldestFirst: true})
	if diff := cmp.Diff([]string{fmt.Sprint("msg_", n)}, letters); diff != "" {
		t.Errorf("the letters of %s (-want +got)\n%s", tenant, diff)
	}
}
