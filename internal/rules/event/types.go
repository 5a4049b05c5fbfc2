package event

import (
	"regexp"
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// Vocabulary is the event types that there are.
type Vocabulary struct {
	names     []string // in order
	known     map[string]bool
	specified bool // user.created has the specification's shape
}

// NewVocabulary returns the vocabulary of a catalogue: the specification's types that are left, and the adopter's own.
func NewVocabulary(specified, own []catalogue.Type) Vocabulary {
	v := Vocabulary{known: map[string]bool{}}
	for _, t := range slices.Concat(specified, own) {
		v.names = append(v.names, t.Name)
		v.known[t.Name] = true
	}
	v.specified = slices.ContainsFunc(specified, func(t catalogue.Type) bool { return t.Name == userCreated })
	return v
}

// implemented is the vocabulary of the catalogue that is compiled.
var implemented = NewVocabulary(catalogue.Tables())

// These are all the patterns: first those of the specification, then those that the adopter's catalogue declares. No
// other text with a star is a pattern, even if it looks like one.
var patterns = slices.Concat(
	[]string{"*", "user.*", "organization.*", "organizationMembership.*"}, catalogue.Wildcards(),
)

// Types returns the event names: the specification's in its order ("Events"), then an adopter's own.
func Types() []string { return slices.Clone(implemented.names) }

// Patterns returns the accepted subscription wildcards: the four of the specification (infra/docs/spec.md,
// "Subscription wildcards"), then the catalogue's own.
func Patterns() []string { return slices.Clone(patterns) }

// Known reports whether name is one of Types.
func Known(name string) bool { return implemented.known[name] }

// ValidPattern reports whether s may be in a subscription: an event name or one of the patterns.
func ValidPattern(s string) bool { return implemented.known[s] || IsPattern(s) }

// IsPattern reports whether s is one of Patterns.
func IsPattern(s string) bool { return slices.Contains(patterns, s) }

// nameForm is the form of an event name: an object, a dot and an action, which may have dots of its own.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)

// ValidName reports whether name has the form of an event name. There may be no such event.
func ValidName(name string) bool { return nameForm.MatchString(name) }

// Matches reports whether the subscription entry (a name or a pattern) selects the event
// name. A wildcard selects every implemented event below its object, the catalogue's own included: "organization.*"
// selects all names that start with "organization.", so never a membership or an invitation.
func Matches(pattern, name string) bool {
	return ValidPattern(pattern) && Known(name) && WouldMatch(pattern, name)
}

// WouldMatch reports whether the subscription entry selects the event name if both are implemented, even if another
// version of the catalogue alone has them.
func WouldMatch(pattern, name string) bool {
	prefix, wildcard := strings.CutSuffix(pattern, "*")
	if wildcard {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
