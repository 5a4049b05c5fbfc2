package event

import (
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// types lists the names in order; known holds them as a set.
var types, known = func() (names []string, set map[string]bool) {
	set = map[string]bool{}
	for _, t := range catalogue.Types() {
		names = append(names, t.Name)
		set[t.Name] = true
	}
	return names, set
}()

// These are all patterns there are. Another one with a star is no pattern, even if it looks like one.
var patterns = []string{"*", "user.*", "organization.*", "organizationMembership.*"}

// Types returns the event names: the specification's in its order ("Events"), then an adopter's own.
func Types() []string { return slices.Clone(types) }

// Patterns returns the accepted subscription wildcards (infra/docs/spec.md, "Subscription wildcards").
func Patterns() []string { return slices.Clone(patterns) }

// Known reports whether name is one of Types.
func Known(name string) bool { return known[name] }

// ValidPattern reports whether s may stand in a subscription: an event name or one of the four
// patterns.
func ValidPattern(s string) bool { return known[s] || slices.Contains(patterns, s) }

// Matches reports whether the subscription entry (a name or a pattern) selects the event
// name. "organization.*" selects names that start with "organization.", dotted sub-events
// included, so never a membership or an invitation.
func Matches(pattern, name string) bool {
	if !ValidPattern(pattern) || !Known(name) {
		return false
	}
	prefix, wildcard := strings.CutSuffix(pattern, "*")
	if wildcard {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
