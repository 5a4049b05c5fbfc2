package cursor

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// A cursor of a tenant's list opens no list of another tenant, even if one id is the beginning of the other.
func TestOpen_tellsTenantsApart(t *testing.T) {
	tenants := append(names.Tenants(), "a", "a:b", "org", "org:12")
	for _, tenant := range tenants {
		made := Make("webhook_1", "keys "+tenant)
		for _, other := range tenants {
			start, ok := Open(made, "keys "+other)
			if ok != (other == tenant) || ok && start != "webhook_1" {
				t.Errorf("a cursor of %s opens %q of %s: %v", tenant, start, other, ok)
			}
		}
	}
}
