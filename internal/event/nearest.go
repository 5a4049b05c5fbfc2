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
func unknown(name string) string {
	const refusal = "is not an implemented event"
	if near := nearest(name); len(near) > 0 {
		return refusal + "; the nearest are " + strings.Join(near, ", ")
	}
	return refusal
}

// nearest returns the known names that differ in at most every second character, the nearest first.
func nearest(name string) []string {
	if len(name) > longestName {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, known := range types {
		if d := levenshtein.Distance(name, known, nil); 2*d <= len(known) {
			near = append(near, candidate{known, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, min(len(near), suggested))
	for i := range names {
		names[i] = near[i].name
	}
	return names
}
