package cost

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// tolerance is how far a figure of the page may be from the counted one, as a share of it, and cent what
// it may be off besides: a log line that gets a few bytes longer does not make the page wrong.
const (
	tolerance = 0.05
	cent      = 0.0101
)

var figure = regexp.MustCompile(`\d+(\.\d+)?`)

// agree reports whether two lines say the same with nearly the same figures.
func agree(page, counted string) bool {
	if figure.ReplaceAllString(page, "#") != figure.ReplaceAllString(counted, "#") {
		return false
	}
	figures := figure.FindAllString(counted, -1)
	for n, text := range figure.FindAllString(page, -1) {
		if !near(text, figures[n]) {
			return false
		}
	}
	return true
}

func near(page, counted string) bool {
	a, err := strconv.ParseFloat(page, 64)
	if err != nil {
		return false
	}
	b, err := strconv.ParseFloat(counted, 64)
	return err == nil && math.Abs(a-b) <= cent+tolerance*b
}

// differences are the lines of the page that do not agree with what was counted, and what should be there.
func differences(page, counted string) (all []string) {
	shown, want := strings.Split(page, "\n"), strings.Split(counted, "\n")
	for n := range max(len(shown), len(want)) {
		switch {
		case n >= len(shown):
			all = append(all, "+ "+want[n])
		case n >= len(want):
			all = append(all, "- "+shown[n])
		case !agree(shown[n], want[n]):
			all = append(all, "- "+shown[n], "+ "+want[n])
		}
	}
	return all
}
