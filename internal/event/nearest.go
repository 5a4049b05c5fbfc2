package event

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// suggested is how many names a refusal suggests at most.
const suggested = 3

// longestName is infra/catalogue's limit; a longer name is no misspelling.
const longestName = 64

// unknown refuses a name, and suggests similar ones.
func unknown(name string) string { return "is not an implemented event" + Suggestion(name) }

// Suggestion goes on in a sentence about an unknown name, "; the nearest are …". It is empty where no name is near.
func Suggestion(name string) string {
	near := nearest(name)
	if len(near) == 0 {
		return ""
	}
	return "; the nearest are " + strings.Join(near, ", ")
}

// nearest returns the known names that differ in at most every second character, the nearest first.
func nearest(name string) []string {
	if len(name) > longestName {
		return nil
	}
	distance := func(known string) int { return levenshtein.Distance(name, known, nil) }
	near := slices.DeleteFunc(Types(), func(known string) bool { return 2*distance(known) > len(known) })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	return near[:min(len(near), suggested)]
}
