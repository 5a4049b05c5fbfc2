package event

import (
	"slices"
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/nearest"
)

// suggested is how many names a refusal suggests at most.
const suggested = 3

// Nearest begins a suggestion.
const Nearest = "; the nearest are "

// Suggestion goes on in a sentence about an unknown name, "; the nearest are …". It is empty where no name is near. It
// suggests events, and the patterns.
func Suggestion(name string, patterns ...string) string {
	return implemented.suggestion(name, patterns...)
}

func (v Vocabulary) suggestion(name string, patterns ...string) string {
	near := nearest.To(name, slices.Concat(v.names, patterns))
	if len(near) == 0 {
		return ""
	}
	return Nearest + strings.Join(near[:min(len(near), suggested)], ", ")
}
