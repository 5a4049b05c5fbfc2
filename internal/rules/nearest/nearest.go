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

// To returns the known names that differ from name in at most every second character, the nearest first.
func To(name string, known []string) []string {
	if len(name) > longest {
		return nil
	}
	distance := func(known string) int { return levenshtein.Distance(name, known, nil) }
	near := slices.DeleteFunc(slices.Clone(known), func(known string) bool { return 2*distance(known) > len(known) })
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	return near
}
