package console

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"time"

	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/internal/plot"
)

// span is a span of time, up to now.
type span struct {
	stack.Window

	per string // a step in words
}

// from is its beginning.
func (s span) from(now time.Time) time.Time { return now.Add(-s.Step * time.Duration(s.Steps)) }

// spans are the time spans of the traffic view.
var spans = map[string]span{
	"hour": {stack.Window{Step: time.Minute, Steps: 60}, "a minute"},
	"day":  {stack.Window{Step: 15 * time.Minute, Steps: 96}, "in 15 min"},
	"week": {stack.Window{Step: 2 * time.Hour, Steps: 84}, "in 2 h"},
}

// charts are the diagrams of the traffic view.
var charts = []struct {
	title, unit string // the unit of counts is the step
	scale       float64
	least       float64 // of the diagram's scale
	labels      []string
	curves      []stack.Curve
}{
	{"Attempts", "", 1, 1, []string{"all", "first"},
		[]stack.Curve{curve("AttemptMillis", "SampleCount"), curve("FirstAttemptsAcknowledged", "SampleCount")}},
	{"First attempts that succeeded", "%", 100, 100, []string{"share"},
		[]stack.Curve{curve("FirstAttemptsAcknowledged", "Average")}},
	{"From the event to the first attempt", "s", 1, 1, []string{"p50", "p99"},
		[]stack.Curve{curve("FirstAttemptSeconds", "p50"), curve("FirstAttemptSeconds", "p99")}},
	{"Duration of attempts", "ms", 1, 1, []string{"p50", "p99"},
		[]stack.Curve{curve("AttemptMillis", "p50"), curve("AttemptMillis", "p99")}},
}

func curve(metric, stat string) stack.Curve { return stack.Curve{Metric: metric, Stat: stat} }

// drawn is the traffic view: a picture, and the same in numbers.
type drawn struct {
	Span    string
	Picture template.HTML
	Rows    []numbers
}

// numbers sum a curve up.
type numbers struct{ Title, Label, Unit, Least, Most, Last string }

func traffic(ctx context.Context, s *Server, query url.Values) (any, error) {
	d := drawn{Span: query.Get("span")}
	span, ok := spans[d.Span]
	if !ok {
		d.Span, span = "hour", spans["hour"]
	}
	window := span.Window
	window.From = s.Now().Add(-time.Duration(window.Steps) * window.Step).Truncate(window.Step).Add(window.Step)
	var curves []stack.Curve
	for _, c := range charts {
		curves = append(curves, c.curves...)
	}
	values, err := s.Metrics.Read(ctx, window, curves)
	if err != nil {
		return nil, err
	}
	panels, measured := make([]plot.Panel, len(charts)), false
	for n, c := range charts {
		if c.unit == "" {
			c.unit = span.per
		}
		panels[n] = plot.Panel{Title: c.title, Unit: c.unit, Step: window.Step, Least: c.least}
		for _, label := range c.labels {
			line := plot.Line{Label: label, Values: values[0]}
			values = values[1:]
			for step := range line.Values {
				line.Values[step] *= c.scale
			}
			panels[n].Lines = append(panels[n].Lines, line)
			row, some := sum(line.Values)
			row.Title, row.Label = c.title, label
			row.Unit = c.unit
			d.Rows = append(d.Rows, row)
			measured = measured || some
		}
	}
	if measured {
		d.Picture = template.HTML(plot.Drawing(2, panels)) //nolint:gosec // numbers and our own words
	}
	return d, nil
}

// sum returns the least, the greatest and the last of the values.
func sum(values []float64) (row numbers, some bool) {
	least, most := math.Inf(1), math.Inf(-1)
	last := math.NaN()
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		least, most = min(least, v), max(most, v)
		last = v
	}
	if math.IsNaN(last) {
		return numbers{Least: "–", Most: "–", Last: "–"}, false
	}
	write := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	return numbers{Least: write(least), Most: write(most), Last: write(last)}, true
}
