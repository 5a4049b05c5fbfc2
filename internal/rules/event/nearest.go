package event

import (
	"strings"

	"github.com/herald-webhooks/herald/internal/rules/nearest"
)

// suggested is how many names a refusal suggests at most.
const suggested = 3

// unknown refuses a name, and suggests similar ones.
func unknown(name string) string { return "is not an implemented event" + Suggestion(name) }

// Nearest begins a suggestion.
const Nearest = "; the nearest are "

// Suggestion goes on in a sentence about an unknown name, "; the nearest are …". It is empty where no name is near. It
// suggests events, and the patterns.
func Suggestion(name string, patterns ...string) string {
	near := nearest.To(name, append(Types(), patterns...))
	if len(near) == 0 {
		return ""
	}
	return Nearest + strings.Join(near[:min(len(near), suggested)], ", ")
}
