// Package chart draws curves over time, with marks of events, as SVG. It writes every text escaped, and takes its
// colours from the style sheet of the page.
package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/herald-webhooks/herald/infra/kit/plot"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// Chart is one diagram over time, the newest at the right. Its values stand at the ends of their steps.
type Chart struct {
	Title, Unit string
	Window      stack.Window
	Tick        time.Duration // between clock times
	Clock       string        // their form
	Least       float64       // the scale ends here at the earliest
	Lines       []plot.Line   // NaN for a gap
	Marks       []Mark
}

// few are so many values that each is a dot, too.
const few = 40

// SVG is the chart as a picture within a page.
func (c Chart) SVG() template.HTML {
	var b strings.Builder
	s := scale{window: c.Window, most: c.most()}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %d %d" font-size="12" `+
		`fill="var(--text)" role="img" aria-label="%s">`+"\n", chartWidth, chartHeight, html.EscapeString(c.Title))
	fmt.Fprintf(&b, `<text x="%d" y="14"><tspan font-weight="bold">%s</tspan><tspan dx="8" fill="var(--dim)">%s</tspan>`+
		"</text>\n", plotLeft, html.EscapeString(c.Title), html.EscapeString(c.Unit))
	legend := plotLeft
	for n, l := range c.Lines {
		fmt.Fprintf(&b, `<text x="%d" y="29" fill="%s">— %s</text>`+"\n", legend, colours[n], html.EscapeString(l.Label))
		legend += 36 + 9*utf8.RuneCountInString(l.Label) // in the larger letters of a narrow page
	}
	for _, part := range []float64{0, .5, 1} {
		y := s.y(part * s.most)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f" stroke="var(--line)"/>`+"\n",
			plotLeft, chartWidth-plotRight, y)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end" fill="var(--dim)">%s</text>`+"\n",
			plotLeft-6, y+4, figure(part*s.most))
	}
	c.drawTimes(&b, s)
	s.drawSpans(&b, c.Marks)
	for n, l := range c.Lines {
		s.drawLine(&b, l.Values, colours[n])
	}
	c.drawCursor(&b, s)
	s.drawMarks(&b, c.Marks)
	return template.HTML(b.String() + "</svg>\n") //nolint:gosec // numbers, our own words, and texts that are escaped
}

// colours are those of lines.
var colours = []string{"var(--curve-1)", "var(--curve-2)", "var(--curve-3)", "var(--curve-4)"}

// most is the end of the scale: a round number above every value.
func (c Chart) most() float64 {
	most := c.Least
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if v > most {
				most = v
			}
		}
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, round := range []float64{1, 2, 4, 5, 8} {
		if most <= round*unit*1.0001 {
			return round * unit
		}
	}
	return 10 * unit
}

func (c Chart) drawTimes(b *strings.Builder, s scale) {
	for at := c.Window.From.Truncate(c.Tick).Add(c.Tick); !at.After(s.end()); at = at.Add(c.Tick) {
		x := s.x(at)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1[1]f" y1="%d" y2="%d" stroke="var(--line)"/>`+"\n",
			x, plotBottom, plotBottom+4)
		anchor := "middle"
		if x > chartWidth-plotRight-16 {
			anchor = "end"
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="%s" fill="var(--dim)">%s</text>`+"\n",
			x, plotBottom+24, anchor, at.UTC().Format(c.Clock))
	}
}

// drawLine draws the parts of a line between its gaps, and few values as dots, too.
func (s scale) drawLine(b *strings.Builder, values []float64, colour string) {
	var points []string
	some := len(values) - len(gapsOf(values))
	for n, v := range append(slices.Clone(values), math.NaN()) {
		if !math.IsNaN(v) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", s.x(s.ends(n)), s.y(v)))
			continue
		}
		if len(points) > 1 {
			fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n",
				colour, strings.Join(points, " "))
		}
		for _, p := range points {
			if some > few && len(points) > 1 {
				break
			}
			x, y, _ := strings.Cut(p, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="2.5" fill="%s"/>`+"\n", x, y, colour)
		}
		points = nil
	}
}

// gapsOf are the places without a value.
func gapsOf(values []float64) (at []int) {
	for n, v := range values {
		if math.IsNaN(v) {
			at = append(at, n)
		}
	}
	return at
}

// drawCursor draws a strip over each step with a value. The style sheet shows its line and its reading under a pointer.
func (c Chart) drawCursor(b *strings.Builder, s scale) {
	wide := s.x(s.ends(0)) - s.x(c.Window.From)
	for step := range c.Window.Steps {
		reading := ""
		for _, l := range c.Lines {
			if step < len(l.Values) && !math.IsNaN(l.Values[step]) {
				reading += "  " + l.Label + " " + figure(l.Values[step])
			}
		}
		if reading == "" {
			continue
		}
		x := s.x(s.ends(step))
		fmt.Fprintf(b, `<g class="step"><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="none"/>`+
			`<line x1="%.1f" x2="%.1[5]f" y1="%[2]d" y2="%[6]d" stroke="var(--dim)"/>`+
			`<text x="%[7]d" y="14" text-anchor="end">%[8]s</text></g>`+"\n",
			x-wide/2, plotTop, wide, plotBottom-plotTop, x, plotBottom, chartWidth-plotRight,
			html.EscapeString(s.ends(step).UTC().Format("2 Jan 15:04")+reading))
	}
}

// figure is a value to three figures.
func figure(v float64) string {
	switch {
	case v >= 1000:
		return plot.Thousands(int(math.Round(v)))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
