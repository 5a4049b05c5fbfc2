// Package nearest finds the known name that a misspelt one was meant to be.
//
// It promises names of the given list only, and none that differs from the misspelt one in more than every second
// character.
package nearest

import (
	"cmp"
	"slices"

	"github.com/agext/levenshtein"
)

// longest bounds names that may be a misspelling, in bytes.
const longest = 64

// candidate is a known name with its distance from the misspelt one.
type candidate struct {
	name     string
	distance int
}

// To returns the known names that differ from name in at most every second character, the nearest first. Strangers
// choose the name: each known name is compared once.
func To(name string, known []string) []string {
	if len(name) > longest {
		return nil
	}
	var near []candidate
	for _, one := range known {
		if d := levenshtein.Distance(name, one, nil); 2*d <= len(one) {
			near = append(near, candidate{one, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, len(near))
	for _, c := range near {
		names = append(names, c.name)
	}
	return names
}
