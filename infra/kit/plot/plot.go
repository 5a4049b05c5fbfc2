// Package plot draws lines over time as SVG, for documents.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// Panel is one diagram: lines over time.
type Panel struct {
	Title string
	Unit  string // of the largest value, behind its number
	Lines []Line
	Step  time.Duration
	Least float64 // the scale ends here at the earliest
	Marks []time.Duration
	Note  string // in place of lines
}

// Line is one line of a panel. A value that is not a number is a gap.
type Line struct {
	Label  string // "" for the only one
	Values []float64
}

// In a page, the colours are its variables'.
const (
	back, ink, soft, dim = "var(--back, white)", "var(--text, black)", "var(--soft, #f4f4f4)", "var(--dim, #666)"
)

var colours = []string{
	"var(--curve-1, #036)", "var(--curve-2, #c60)", "var(--curve-3, #393)", "var(--curve-4, #909)", "var(--curve-5, #666)",
}

// The sizes, in pixels.
const (
	panelWidth, panelHeight = 380, 130
	left, top               = 12, 26
	plotWidth, plotHeight   = panelWidth - 2*left, panelHeight - top - 24
)

// Drawing is the text of an SVG with the panels in so many columns.
func Drawing(columns int, panels []Panel) string {
	rows := (len(panels) + columns - 1) / columns
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"`)
	width, height := columns*panelWidth, rows*panelHeight
	fmt.Fprintf(&b, ` width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" fill="%s">`, width, height, ink)
	fmt.Fprintf(&b, "\n<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", back)
	for n, p := range panels {
		fmt.Fprintf(&b, "<g transform=\"translate(%d %d)\">\n", n%columns*panelWidth, n/columns*panelHeight)
		p.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p Panel) draw(b *strings.Builder) {
	most, steps := p.Least, 0
	for _, l := range p.Lines {
		steps = max(steps, len(l.Values)-1)
		for _, v := range l.Values {
			if v > most {
				most = v
			}
		}
	}
	whole := time.Duration(steps) * p.Step
	fmt.Fprintf(b, "<text x=\"%d\" y=\"14\" font-weight=\"bold\">%s</text>\n", left, html.EscapeString(p.Title))
	fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
		left, top, plotWidth, plotHeight, soft)
	if p.Note != "" {
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n",
			left+plotWidth/2, top+plotHeight/2, dim, html.EscapeString(p.Note))
		return
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"14\" text-anchor=\"end\">up to %s %s</text>\n",
		left+plotWidth, number(most), html.EscapeString(p.Unit))
	for _, at := range p.Marks {
		mark := left + plotWidth*float64(at)/float64(max(whole, 1))
		fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#c33\" stroke-dasharray=\"3\"/>\n",
			mark, mark, top, top+plotHeight)
	}
	for n, l := range p.Lines {
		l.draw(b, colours[n%len(colours)], steps, most)
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">0", left, panelHeight-8)
	for n, l := range p.Lines {
		fmt.Fprintf(b, "<tspan dx=\"10\" fill=\"%s\">%s</tspan>", colours[n%len(colours)], html.EscapeString(l.Label))
	}
	fmt.Fprintf(b, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
		left+plotWidth, panelHeight-8, Short(whole))
}

// draw draws the parts of a line between its gaps; a part of one value is a dot.
func (l Line) draw(b *strings.Builder, colour string, steps int, most float64) {
	var points []string
	end := func() {
		switch len(points) {
		case 0:
		case 1:
			x, y, _ := strings.Cut(points[0], ",")
			fmt.Fprintf(b, "<circle cx=\"%s\" cy=\"%s\" r=\"2\" fill=\"%s\"/>\n", x, y, colour)
		default:
			fmt.Fprintf(b, "<polyline fill=\"none\" stroke=\"%s\" points=\"%s\"/>\n", colour, strings.Join(points, " "))
		}
		points = nil
	}
	for n, v := range l.Values {
		if math.IsNaN(v) {
			end()
			continue
		}
		x, y := left+float64(n)*plotWidth/float64(max(steps, 1)), top+plotHeight*(1-v/max(most, 1e-9))
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	end()
}

func number(n float64) string {
	if n >= 100 {
		return Thousands(int(n))
	}
	return fmt.Sprintf("%.2g", n)
}

// Thousands is a number with commas.
func Thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}

// Short is a duration to two figures.
func Short(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}
