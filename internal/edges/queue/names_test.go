package queue

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

// groupForm is a MessageGroupId by SQS's documentation: up to 128 alphanumeric characters and ASCII punctuation.
var groupForm = regexp.MustCompile("^[A-Za-z0-9!\"#$%&'()*+,./:;<=>?@\\[\\\\\\]^_`{|}~-]{1,128}$")

// Every tenant's id is a group that SQS takes, and comes back from a message as it was.
func TestTenantsAreGroupsAndAttributes(t *testing.T) {
	holds := func(t rapid.TB, tenant string) {
		t.Helper()
		if !groupForm.MatchString(tenant) {
			t.Errorf("%s is no group", tenant)
		}
		m := full()
		m.TenantID = tenant
		m.DeliveryID = delivery.ID(tenant, m.EventID, m.EndpointID, delivery.ContentOf(m.Body))
		got, err := Decode(received(m))
		if diff := cmp.Diff(m, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
	for _, tenant := range names.Tenants() {
		holds(t, tenant)
	}
	rapid.Check(t, func(t *rapid.T) { holds(t, names.Any().Draw(t, "tenant")) })
}
