package parts

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// near is a time of the last or the next week by its distance, in its two largest units.
func near(at, now time.Time) string {
	age := now.Sub(at).Round(time.Second)
	if age.Abs() >= 7*24*time.Hour {
		return at.UTC().Format("2006-01-02 15:04 UTC")
	}
	if age < 0 {
		return "in " + Coarse(-age)
	}
	return Coarse(age) + " ago"
}

// Coarse is a duration in its two largest units.
func Coarse(d time.Duration) string {
	type part struct {
		unit string
		n    time.Duration
	}
	parts := []part{
		{"d", d / (24 * time.Hour)}, {"h", d / time.Hour % 24}, {"m", d / time.Minute % 60}, {"s", d / time.Second % 60},
	}
	first := slices.IndexFunc(parts, func(p part) bool { return p.n > 0 })
	if first < 0 {
		return "0s"
	}
	var written []string
	for _, p := range parts[first:min(first+2, len(parts))] {
		if p.n > 0 {
			written = append(written, fmt.Sprintf("%d%s", p.n, p.unit))
		}
	}
	return strings.Join(written, " ")
}
