package movein

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// An endpoint moves in with the tenant that the other sender names. What no tenant is called is left out.
func TestEndpoints_takesTenantsAsTheyAreCalled(t *testing.T) {
	object := func(tenant string) string {
		id, err := json.Marshal(tenant)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"url":"https://a.example.com","tenant_id":%s,%s}`, id, secret)
	}
	for _, tenant := range names.Tenants() {
		_, report := convert(t, object(tenant), rules(Svix))
		if got := report.Objects[0]; got.TenantID != tenant || got.LeftOut {
			t.Errorf("%s: %q, left out %t", tenant, got.TenantID, got.LeftOut)
		}
	}
	for _, text := range names.Refused() {
		if text == "" {
			continue // names no tenant at all
		}
		_, report := convert(t, object(text), rules(Svix))
		got := report.Objects[0]
		said := slices.ContainsFunc(got.Notes, func(n Note) bool {
			return strings.Contains(n.Message, "has 1 to 128 of A-Z a-z 0-9 _ - . : @ | + = ~, and neither . nor ..")
		})
		if !got.LeftOut || !said {
			t.Errorf("%s: left out %t, %v", text, got.LeftOut, got.Notes)
		}
	}
}
