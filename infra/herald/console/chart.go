package console

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/internal/plot"
)

// chart is one diagram over time, the newest at the right. Its values stand at the ends of their steps.
type chart struct {
	title, unit string
	window      stack.Window
	tick        time.Duration // between clock times
	clock       string        // their form
	least       float64       // the scale ends here at the earliest
	lines       []plot.Line   // NaN for a gap
	marks       []mark
}

// The sizes of a chart, in pixels.
const (
	chartWidth, chartHeight = 600, 220
	plotLeft, plotTop       = 52, 52
	plotRight               = 10
	plotBottom              = chartHeight - 34
)

// few are so many values that each is a dot, too.
const few = 40

// drawn is the text of the chart as SVG. Its colours are the page's, and its texts are escaped.
func (c chart) drawn() string {
	var b strings.Builder
	most := c.most()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %d %d" font-size="12" `+
		`fill="var(--text)" role="img" aria-label="%s">`+"\n", chartWidth, chartHeight, html.EscapeString(c.title))
	fmt.Fprintf(&b, `<text x="%d" y="14"><tspan font-weight="bold">%s</tspan><tspan dx="8" fill="var(--dim)">%s</tspan>`+
		"</text>\n", plotLeft, html.EscapeString(c.title), html.EscapeString(c.unit))
	for n, l := range c.lines {
		fmt.Fprintf(&b, `<text x="%d" y="29" fill="%s">— %s</text>`+"\n",
			plotLeft+n*90, colours[n], html.EscapeString(l.Label))
	}
	for _, part := range []float64{0, .5, 1} {
		y := c.y(part*most, most)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f" stroke="var(--line)"/>`+"\n",
			plotLeft, chartWidth-plotRight, y)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end" fill="var(--dim)">%s</text>`+"\n",
			plotLeft-6, y+4, figure(part*most))
	}
	c.drawTimes(&b)
	c.drawSpans(&b)
	for n, l := range c.lines {
		c.drawLine(&b, l.Values, colours[n], most)
	}
	c.drawCursor(&b)
	c.drawMarks(&b)
	return b.String() + "</svg>\n"
}

// colours are those of lines.
var colours = []string{"var(--curve-1)", "var(--curve-2)"}

// most is the end of the scale: a round number above every value.
func (c chart) most() float64 {
	most := c.least
	for _, l := range c.lines {
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

// end is the end of the time that is shown.
func (c chart) end() time.Time {
	return c.window.From.Add(c.window.Step * time.Duration(c.window.Steps))
}

// x is where a moment stands.
func (c chart) x(at time.Time) float64 {
	part := float64(at.Sub(c.window.From)) / float64(c.end().Sub(c.window.From))
	return plotLeft + part*(chartWidth-plotLeft-plotRight)
}

// y is where a value stands.
func (c chart) y(v, most float64) float64 { return plotBottom - v/most*(plotBottom-plotTop) }

// ends is the end of a step.
func (c chart) ends(step int) time.Time {
	return c.window.From.Add(c.window.Step * time.Duration(step+1))
}

func (c chart) drawTimes(b *strings.Builder) {
	for at := c.window.From.Truncate(c.tick).Add(c.tick); !at.After(c.end()); at = at.Add(c.tick) {
		x := c.x(at)
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1[1]f" y1="%d" y2="%d" stroke="var(--line)"/>`+"\n",
			x, plotBottom, plotBottom+4)
		anchor := "middle"
		if x > chartWidth-plotRight-16 {
			anchor = "end"
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="%s" fill="var(--dim)">%s</text>`+"\n",
			x, plotBottom+24, anchor, at.UTC().Format(c.clock))
	}
}

// drawLine draws the parts of a line between its gaps, and few values as dots, too.
func (c chart) drawLine(b *strings.Builder, values []float64, colour string, most float64) {
	var points []string
	some := len(values) - len(gapsOf(values))
	for n, v := range append(slices.Clone(values), math.NaN()) {
		if !math.IsNaN(v) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", c.x(c.ends(n)), c.y(v, most)))
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
func (c chart) drawCursor(b *strings.Builder) {
	wide := c.x(c.ends(0)) - c.x(c.window.From)
	for step := range c.window.Steps {
		reading := ""
		for _, l := range c.lines {
			if step < len(l.Values) && !math.IsNaN(l.Values[step]) {
				reading += "  " + l.Label + " " + figure(l.Values[step])
			}
		}
		if reading == "" {
			continue
		}
		x := c.x(c.ends(step))
		fmt.Fprintf(b, `<g class="step"><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="none"/>`+
			`<line x1="%.1f" x2="%.1[5]f" y1="%[2]d" y2="%[6]d" stroke="var(--dim)"/>`+
			`<text x="%[7]d" y="14" text-anchor="end">%[8]s</text></g>`+"\n",
			x-wide/2, plotTop, wide, plotBottom-plotTop, x, plotBottom, chartWidth-plotRight,
			html.EscapeString(c.ends(step).UTC().Format("2 Jan 15:04")+reading))
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
