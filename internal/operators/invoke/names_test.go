package invoke

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/rules/event"
	tenants "github.com/herald-webhooks/herald/internal/testkit/names"
)

// A request names a tenant, or is refused with the rule for tenants. A request that names none has an empty field,
// which is refused by another rule.
func TestFunction_Invoke_takesTenantsAsTheyAreCalled(t *testing.T) {
	ask := func(tenant string) string {
		f := testFunction(&bytes.Buffer{})
		request, err := json.Marshal(map[string]string{"action": "greet", "operator": "ann", "tenant_id": tenant})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := f.Invoke(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	for _, tenant := range tenants.Tenants() {
		if answer := ask(tenant); strings.Contains(answer, event.TenantIDRule) {
			t.Errorf("%q: %s", tenant, answer)
		}
	}
	for _, text := range tenants.Refused() {
		if answer := ask(text); text != "" && !strings.Contains(answer, event.TenantIDRule) {
			t.Errorf("%q: %s", text, answer)
		}
	}
}
