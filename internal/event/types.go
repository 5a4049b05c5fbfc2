package event

import (
	"slices"
	"strings"
)

var types = []string{
	"user.created", "user.updated", "user.deleted", "user.restored", "user.banned", "user.unbanned", "user.deactivated",
	"organization.created", "organization.updated", "organization.deleted", "organization.restored",
	"organization.auth_policy.updated",
	"organization.delivery_channels.updated",
	"organization.social_providers.updated",
	"organization.outbound_saml_app.created", "organization.outbound_saml_app.deleted",
	"organization.scim_target.created", "organization.scim_target.deleted",
	"organizationMembership.created", "organizationMembership.updated",
	"organizationMembership.deleted", "organizationMembership.restored",
	"organizationInvitation.created", "organizationInvitation.accepted", "organizationInvitation.revoked",
	"connection.saml_certificate_renewed",
}

var patterns = []string{"*", "user.*", "organization.*", "organizationMembership.*"}

var known = func() map[string]bool {
	m := make(map[string]bool, len(types))
	for _, t := range types {
		m[t] = true
	}
	return m
}()

// Types returns the implemented event names in the order of the specification ("Events").
func Types() []string { return slices.Clone(types) }

// Patterns returns the accepted subscription wildcards (infra/docs/spec.md, "Subscription wildcards").
func Patterns() []string { return slices.Clone(patterns) }

// Known reports whether name is an implemented event.
func Known(name string) bool { return known[name] }

// ValidPattern reports whether s may stand in a subscription: an implemented event name or
// one of the four patterns.
func ValidPattern(s string) bool { return known[s] || slices.Contains(patterns, s) }

// Matches reports whether the subscription entry (a name or a pattern) selects the event
// name. "organization.*" selects names that start with "organization.", dotted sub-events
// included, so never a membership or an invitation.
func Matches(pattern, name string) bool {
	if !ValidPattern(pattern) || !Known(name) {
		return false
	}
	if pattern == "*" {
		return true
	}
	prefix, wildcard := strings.CutSuffix(pattern, "*")
	if wildcard {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
