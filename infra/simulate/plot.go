package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// panel is one diagram: a line over time.
type panel struct {
	title  string
	unit   string    // of the largest value, behind its number
	values []float64 // at even steps
	step   time.Duration
	least  float64 // the scale ends here at the earliest
	marks  []time.Duration
}

// The sizes, in pixels.
const (
	panelWidth, panelHeight = 380, 130
	left, top               = 12, 26
	plotWidth, plotHeight   = panelWidth - 2*left, panelHeight - top - 24
)

func drawing(columns int, panels []panel) string {
	rows := (len(panels) + columns - 1) / columns
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"`)
	fmt.Fprintf(&b, ` width="%d" height="%d">`, columns*panelWidth, rows*panelHeight)
	b.WriteString("\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n")
	for n, p := range panels {
		fmt.Fprintf(&b, "<g transform=\"translate(%d %d)\">\n", n%columns*panelWidth, n/columns*panelHeight)
		p.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p panel) draw(b *strings.Builder) {
	most := max(slices.Max(append(slices.Clone(p.values), 0)), p.least)
	x := func(n int) float64 { return left + float64(n)*plotWidth/float64(max(len(p.values)-1, 1)) }
	y := func(v float64) float64 { return top + plotHeight*(1-v/most) }
	fmt.Fprintf(b, "<text x=\"%d\" y=\"14\" font-weight=\"bold\">%s</text>\n", left, p.title)
	highest := fmt.Sprintf("%.2g", most)
	if most >= 100 {
		highest = thousands(int(most))
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"14\" text-anchor=\"end\">up to %s %s</text>\n", left+plotWidth, highest, p.unit)
	fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f4f4f4\"/>\n",
		left, top, plotWidth, plotHeight)
	whole := time.Duration(len(p.values)-1) * p.step
	for _, at := range p.marks {
		mark := left + plotWidth*float64(at)/float64(max(whole, 1))
		fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#c33\" stroke-dasharray=\"3\"/>\n",
			mark, mark, top, top+plotHeight)
	}
	fmt.Fprintf(b, "<polyline fill=\"none\" stroke=\"#036\" points=\"")
	for n, v := range p.values {
		fmt.Fprintf(b, "%.1f,%.1f ", x(n), y(v))
	}
	fmt.Fprintf(b, "\"/>\n<text x=\"%d\" y=\"%d\">0</text>\n", left, panelHeight-8)
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left+plotWidth, panelHeight-8, short(whole))
}

// lateness draws the share of others' first attempts that were late, under each attack: of its runs, the longest. It is
// "" unless all attacks were played.
func lateness(results []Result) string {
	longest := map[string]Result{}
	var names []string
	for _, r := range results {
		if r.Kind != Attack {
			continue
		}
		if _, known := longest[r.Name]; !known {
			names = append(names, r.Name)
		}
		if r.Length > longest[r.Name].Length {
			longest[r.Name] = r
		}
	}
	if len(names) < len(attacks()) {
		return ""
	}
	var panels []panel
	for _, name := range names {
		r := longest[name]
		p := panel{
			title: fmt.Sprintf("%s, others %s/s", name, thousands(int(r.Rate))), unit: "% late", step: binLength, least: 1,
		}
		for _, b := range r.Bins[:min(int(r.Length/binLength)+1, len(r.Bins))] {
			p.values = append(p.values, 100*float64(b.Late)/float64(max(b.First, 1)))
		}
		panels = append(panels, p)
	}
	return drawing(2, panels)
}

// recovery draws one receiver's outage of a day, what waits and what is sent; "" unless that was played.
func recovery(results []Result) string {
	n := slices.IndexFunc(results, func(r Result) bool { return r.Name == "day" })
	if n < 0 {
		return ""
	}
	r := results[n]
	marks := []time.Duration{calm, r.Length}
	waiting := panel{title: "Waiting in Backlog", unit: "deliveries", step: time.Minute, least: 1, marks: marks}
	posts := panel{title: "POSTs to the receiver, by minute", unit: "POSTs", step: time.Minute, least: 1, marks: marks}
	open := panel{title: "Not delivered yet", unit: "deliveries", step: time.Minute, least: 1, marks: marks}
	before := 0
	for _, s := range r.Samples {
		waiting.values = append(waiting.values, float64(s.Backlog))
		posts.values = append(posts.values, float64(s.Posts-before))
		open.values = append(open.values, float64(s.Left))
		before = s.Posts
	}
	return drawing(1, []panel{waiting, posts, open})
}
