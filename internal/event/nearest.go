package event

import (
	"cmp"
	"slices"
	"strings"
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
		if d := distance(name, known); 2*d <= len(known) {
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

// distance is the least number of bytes to insert, remove or replace that makes b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
