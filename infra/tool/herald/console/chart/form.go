package chart

import (
	"fmt"
	"html/template"
)

// form is how marks of a kind look: a path around a point, by its outline or filled, in one of the page's colours.
// Each kind has its own row, so that marks of one moment do not cover each other.
type form struct {
	path   string
	row    int // of the point
	colour string
	hollow bool
}

// The rows of marks: acts below the legend, alarms at the upper edge of the plot, and deployments below its lower edge.
const (
	rowOfActs        = 38
	rowOfAlarms      = plotTop - 3
	rowOfDeployments = plotBottom + 4
)

var forms = map[Kind]form{
	Alarm:    {"m-4.5 -4 h9 l-4.5 7 z", rowOfAlarms, "var(--mark)", false},
	Act:      {"m0 -4 l4 4 l-4 4 l-4 -4 z", rowOfActs, "var(--mark)", false},
	Deployed: {"m-4.5 3.5 h9 l-4.5 -7.5 z", rowOfDeployments, "var(--mark)", false},
	Ongoing:  {"m-4.5 3.5 h9 l-4.5 -7.5 z", rowOfDeployments, "var(--mark)", true},
	Undone:   {"m-3.5 -3.5 l7 7 m0 -7 l-7 7", rowOfDeployments, "var(--bad)", true},
}

// around is the form around a point, as SVG.
func (f form) around(x, y float64) string {
	fill := f.colour
	if f.hollow {
		fill = "none"
	}
	return fmt.Sprintf(`<path d="M%.1f %.1f %s" fill="%s" stroke="%s" stroke-width="1.5"/>`, x, y, f.path, fill, f.colour)
}

// Icon is the form of a kind, for a place in a text.
func (k Kind) Icon() template.HTML {
	return template.HTML(`<svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">` + //nolint:gosec // our own
		forms[k].around(0, 0) + `</svg>`)
}
