package event

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSuggestion_namesTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"user.create":           "user.created, user.updated or user.deleted?",
		"User.Created":          "user.created, user.updated or user.deleted?",
		"organization.scim":     "organization.created, organization.updated or organization.deleted?",
		"membership.created":    "organizationMembership.created?",
		"user.c":                "user.created?", // half of it is missing
		"user.":                 "",
		"order.shipped":         "",
		"":                      "",
		strings.Repeat("u", 65): "",
		"organisation.created":  "organization.created, organization.updated or organization.deleted?",
	} {
		_, got, _ := strings.Cut(Suggestion(name), "; did you mean ")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("nearest to %q (-want +got):\n%s", name, diff)
		}
	}
}
