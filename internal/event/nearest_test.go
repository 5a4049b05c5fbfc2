package event

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnknown_suggestsTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"user.create":           "user.created, user.updated, user.deleted",
		"User.Created":          "user.created, user.updated, user.deleted",
		"organization.scim":     "organization.created, organization.updated, organization.deleted",
		"membership.created":    "organizationMembership.created",
		"order.shipped":         "",
		"":                      "",
		strings.Repeat("u", 65): "",
		"organisation.created":  "organization.created, organization.updated, organization.deleted",
	} {
		_, got, _ := strings.Cut(unknown(name), "; the nearest are ")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("nearest to %q (-want +got):\n%s", name, diff)
		}
	}
}

func TestDistance_isAMetric(t *testing.T) {
	names := rapid.StringMatching(`[ab.]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := names.Draw(t, "a"), names.Draw(t, "b"), names.Draw(t, "c")
		if d := distance(a, b); (d == 0) != (a == b) || d != distance(b, a) || d > distance(a, c)+distance(c, b) ||
			d > max(len(a), len(b)) {
			t.Errorf("distance of %q and %q: %d", a, b, d)
		}
	})
}
