package rejected

import (
	"encoding/json"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// A rejected event belongs to the tenant that its body names, or to no tenant if nobody can be called so.
func TestTenantOf_isTheTenantThatTheBodyNames(t *testing.T) {
	of := func(tenant string) Event {
		body, err := json.Marshal(map[string]string{"tenant_id": tenant})
		if err != nil {
			t.Fatal(err)
		}
		return Event{Body: string(body)}
	}
	for _, tenant := range names.Tenants() {
		for _, other := range names.Tenants() {
			if of(tenant).Selected(job.Selector{TenantID: other}) != (tenant == other) {
				t.Errorf("an event of %s is selected by %s: %v", tenant, other, tenant != other)
			}
		}
	}
	for _, text := range names.Refused() {
		if got := TenantOf(of(text)); got != "" {
			t.Errorf("%q is taken for the tenant %q", text, got)
		}
	}
}
