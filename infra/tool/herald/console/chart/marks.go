package chart

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// place is the moment at which a chart has a mark, if it does: the beginning or, where that is before, the end.
func (s scale) place(m Mark) (at time.Time, shown bool) {
	for _, at := range []time.Time{m.At, m.Until} {
		if !at.IsZero() && !at.Before(s.window.From) && !at.After(s.end()) {
			return at, true
		}
	}
	return s.window.From, m.Kind.lasts() && m.Until.IsZero() && m.At.Before(s.window.From)
}

// drawSpans draws a line for each mark, behind the curves, and the time of a deployment as a stripe. If that goes on,
// the stripe reaches to the end of the chart, and the line is broken.
func (s scale) drawSpans(b *strings.Builder, marks []Mark) {
	for _, m := range marks {
		at, shown := s.place(m)
		if !shown {
			continue
		}
		f := forms[m.Kind]
		upper, broken := plotTop, ""
		if m.Kind.lasts() {
			from, until := s.x(m.When()), s.x(s.end())
			if !m.Until.IsZero() {
				until = min(s.x(m.Until), until)
			}
			from = max(from, plotLeft)
			fmt.Fprintf(b, `<rect x="%.1f" width="%.1f" y="%d" height="%d" fill="%s" fill-opacity=".16"/>`+"\n",
				from, max(until-from, 2), plotTop, plotBottom-plotTop, f.colour)
		} else {
			upper = f.row
		}
		if m.Until.IsZero() {
			broken = ` stroke-dasharray="3"`
		}
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1[1]f" y1="%d" y2="%d" stroke="%s"%s/>`+"\n",
			s.x(at), upper, plotBottom, f.colour, broken)
	}
}

// closeBy is in pixels. Marks of one row that are closer share a form, since it would cover them.
const closeBy = 6

// drawMarks draws the forms, above everything that takes the pointer, each with the names of its marks as a tip.
func (s scale) drawMarks(b *strings.Builder, marks []Mark) {
	type group struct {
		kind Kind
		x    float64
		tips []string
	}
	var groups []*group
	for _, m := range marks {
		at, shown := s.place(m)
		if !shown {
			continue
		}
		x := s.x(at)
		same := func(g *group) bool { return g.kind == m.Kind && x-g.x < closeBy }
		last := slices.IndexFunc(groups, same)
		if last < 0 {
			last = len(groups)
			groups = append(groups, &group{kind: m.Kind, x: x})
		}
		groups[last].tips = append(groups[last].tips, m.When().UTC().Format("2 Jan 15:04:05 UTC ")+m.Text)
	}
	for _, g := range groups {
		f := forms[g.kind]
		fmt.Fprintf(b, `<g class="mark">%s<rect x="%.1f" y="%d" width="12" height="12" fill="none"/><title>%s</title></g>`+
			"\n", f.around(g.x, float64(f.row)), g.x-6, f.row-6, html.EscapeString(strings.Join(g.tips, "\n")))
	}
}
