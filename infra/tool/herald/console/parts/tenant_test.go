package parts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// What a bound has left out is said where it is missing, even if nothing else is there.
func TestSite_TenantPage_saysWhatIsMissing(t *testing.T) {
	site := Site{Now: func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) }}
	var tenant stack.Tenant
	tenant.Fields.Jobs.More = true
	tenant.Keys.NextCursor = new("more")
	page := site.TenantPage(tenant)
	for _, title := range []string{"Jobs that are not done", "Keys"} {
		if !slices.ContainsFunc(page.Lists, func(s Section) bool {
			return s.Title == title && strings.Contains(s.Note, "There are more")
		}) {
			t.Errorf("%s: nothing says that there are more: %+v", title, page.Lists)
		}
	}
	if !slices.Contains(page.Facts, Fact{Name: "keys that can be used", Text: "0 or more"}) {
		t.Errorf("an exact number of keys: %+v", page.Facts)
	}
	tenant.Acts.More = true
	for _, s := range site.TenantActs(tenant) {
		if !strings.Contains(strings.ToLower(s.Note), "later") {
			t.Errorf("%s: hides that later lines are missing: %s", s.Title, s.Note)
		}
	}
}
