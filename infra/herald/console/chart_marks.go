package console

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"time"
)

// form is how marks of a kind look: a path around a point, by its outline or filled, in one of the page's colours.
// Each kind has its own row, so that marks of one moment do not cover each other.
type form struct {
	path   string
	row    int // of the point
	colour string
	hollow bool
}

// The rows of marks are below the legend, at the upper end of the plot, and below its lower end.
const (
	rowOfActs        = 38
	rowOfAlarms      = plotTop - 3
	rowOfDeployments = plotBottom + 4
)

var forms = map[kind]form{
	kindAlarm:    {"m-4.5 -4 h9 l-4.5 7 z", rowOfAlarms, "var(--mark)", false},
	kindAct:      {"m0 -4 l4 4 l-4 4 l-4 -4 z", rowOfActs, "var(--mark)", false},
	kindDeployed: {"m-4.5 3.5 h9 l-4.5 -7.5 z", rowOfDeployments, "var(--mark)", false},
	kindOngoing:  {"m-4.5 3.5 h9 l-4.5 -7.5 z", rowOfDeployments, "var(--mark)", true},
	kindUndone:   {"m-3.5 -3.5 l7 7 m0 -7 l-7 7", rowOfDeployments, "var(--bad)", true},
}

// drawn is the form around a point, as SVG.
func (f form) drawn(x, y float64) string {
	fill := f.colour
	if f.hollow {
		fill = "none"
	}
	return fmt.Sprintf(`<path d="M%.1f %.1f %s" fill="%s" stroke="%s" stroke-width="1.5"/>`, x, y, f.path, fill, f.colour)
}

// icon is the form of a kind, for a place in a text.
func (k kind) icon() template.HTML {
	return template.HTML(`<svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">` + //nolint:gosec // our own
		forms[k].drawn(0, 0) + `</svg>`)
}

// place is the moment at which a chart has a mark, if it does: the beginning or, where that is before, the end.
func (c chart) place(m mark) (at time.Time, shown bool) {
	for _, at := range []time.Time{m.at, m.until} {
		if !at.IsZero() && !at.Before(c.window.From) && !at.After(c.end()) {
			return at, true
		}
	}
	return c.window.From, m.kind.lasts() && m.until.IsZero() && m.at.Before(c.window.From)
}

// drawSpans draws a line for each mark, behind the curves, and the time of a deployment as a stripe. If that goes on,
// the stripe reaches to the end of the chart, and the line is broken.
func (c chart) drawSpans(b *strings.Builder) {
	for _, m := range c.marks {
		at, shown := c.place(m)
		if !shown {
			continue
		}
		f := forms[m.kind]
		upper, broken := plotTop, ""
		if m.kind.lasts() {
			from, until := c.x(m.when()), c.x(c.end())
			if !m.until.IsZero() {
				until = min(c.x(m.until), until)
			}
			from = max(from, plotLeft)
			fmt.Fprintf(b, `<rect x="%.1f" width="%.1f" y="%d" height="%d" fill="%s" fill-opacity=".16"/>`+"\n",
				from, max(until-from, 2), plotTop, plotBottom-plotTop, f.colour)
		} else {
			upper = f.row
		}
		if m.until.IsZero() {
			broken = ` stroke-dasharray="3"`
		}
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1[1]f" y1="%d" y2="%d" stroke="%s"%s/>`+"\n",
			c.x(at), upper, plotBottom, f.colour, broken)
	}
}

// close marks of one row share a form, since it would cover them, in pixels.
const closeBy = 6

// drawMarks draws the forms, above everything that takes the pointer, each with the names of its marks as a tip.
func (c chart) drawMarks(b *strings.Builder) {
	type group struct {
		kind kind
		x    float64
		tips []string
	}
	var groups []*group
	for _, m := range c.marks {
		at, shown := c.place(m)
		if !shown {
			continue
		}
		x := c.x(at)
		same := func(g *group) bool { return g.kind == m.kind && x-g.x < closeBy }
		last := slices.IndexFunc(groups, same)
		if last < 0 {
			last = len(groups)
			groups = append(groups, &group{kind: m.kind, x: x})
		}
		groups[last].tips = append(groups[last].tips, m.when().UTC().Format("2 Jan 15:04:05 UTC ")+m.text)
	}
	for _, g := range groups {
		f := forms[g.kind]
		fmt.Fprintf(b, `<g class="mark">%s<rect x="%.1f" y="%d" width="12" height="12" fill="none"/><title>%s</title></g>`+
			"\n", f.drawn(g.x, float64(f.row)), g.x-6, f.row-6, html.EscapeString(strings.Join(g.tips, "\n")))
	}
}
