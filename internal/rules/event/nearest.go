package event

import (
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/nearest"
)

// suggested is how many names a refusal suggests at most.
const suggested = 3

// Unknown is the refusal of a type that is not among the event types, to publishers and tenants alike.
const Unknown = "unknown event type"

// Nearest begins a suggestion.
const Nearest = "; did you mean "

// Suggestion goes on in a sentence about an unknown name, "; did you mean … or …?". It is empty where no name is near.
// It suggests events, and the patterns.
func Suggestion(name string, patterns ...string) string {
	return implemented.suggestion(name, patterns...)
}

func (v Vocabulary) suggestion(name string, patterns ...string) string {
	near := nearest.To(name, slices.Concat(v.names, patterns))
	if len(near) == 0 {
		return ""
	}
	near = near[:min(len(near), suggested)]
	last := len(near) - 1
	if last == 0 {
		return Nearest + near[0] + "?"
	}
	return Nearest + strings.Join(near[:last], ", ") + " or " + near[last] + "?"
}
