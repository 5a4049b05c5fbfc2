package console

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/plot"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/chart"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// span is a span of time, up to now.
type span struct {
	stack.Window

	tick  time.Duration // between clock times
	clock string        // their form
	wider []int         // steps together, for percentiles
}

// from is its beginning.
func (s span) from(now time.Time) time.Time { return now.Add(-s.Step * time.Duration(s.Steps)) }

// spans are the time spans of the traffic view.
var spans = map[string]span{
	"hour": {stack.Window{Step: time.Minute, Steps: 60}, 10 * time.Minute, "15:04", []int{1, 5, 10}},
	"day":  {stack.Window{Step: 15 * time.Minute, Steps: 96}, 4 * time.Hour, "15:04", []int{1, 4, 12}},
	"week": {stack.Window{Step: 2 * time.Hour, Steps: 84}, 24 * time.Hour, "Mon 2", []int{1, 3, 12}},
}

// enough are so many attempts in a step that their 99th percentile is not their slowest alone.
const enough = 100

func curve(metric, stat string) stack.Curve { return stack.Curve{Metric: metric, Stat: stat} }

// The curves that count, and those of which a step needs enough attempts.
var (
	counting = []stack.Curve{
		curve("AttemptMillis", "SampleCount"), curve("FirstAttemptsAcknowledged", "SampleCount"),
		curve("FirstAttemptsAcknowledged", "Average"),
	}
	ranking = []stack.Curve{
		curve("FirstAttemptSeconds", "p50"), curve("FirstAttemptSeconds", "p99"),
		curve("AttemptMillis", "p50"), curve("AttemptMillis", "p99"),
	}
)

// traffic is the view of attempts: pictures, and the same in numbers.
type traffic struct {
	Span    string
	Picture template.HTML
	Rows    []numbers
	Marks   []marked
	Notes   []string
}

// numbers sum a curve up.
type numbers struct{ Title, Label, Unit, Least, Most, Last string }

func trafficPage(ctx context.Context, s *Server, query url.Values) (any, error) {
	d := traffic{Span: query.Get("span")}
	shown, ok := spans[d.Span]
	if !ok {
		d.Span, shown = "hour", spans["hour"]
	}
	window := shown.Window
	window.From = shown.from(s.Now()).Truncate(window.Step).Add(window.Step)
	counted, err := s.Metrics.Read(ctx, window, counting)
	if err != nil {
		return nil, err
	}
	wide := widened(window, shown.wider, counted[0])
	ranked, err := s.Metrics.Read(ctx, wide, ranking)
	if err != nil {
		return nil, err
	}
	marks, notes := s.marks(ctx, window.From)
	d.Notes = notes
	percent := scaled(counted[2], 100)
	charts := []chart.Chart{
		{Title: "Attempts", Unit: "in " + parts.Coarse(window.Step), Window: window, Least: 1, Lines: []plot.Line{
			{Label: "all", Values: counted[0]}, {Label: "first", Values: counted[1]},
		}},
		{Title: "First attempts that succeeded", Unit: "%", Window: window, Least: 100, Lines: []plot.Line{
			{Label: "share", Values: percent},
		}},
		{Title: "From the event to the first attempt", Unit: "s, each " + parts.Coarse(wide.Step), Window: wide, Least: .1,
			Lines: []plot.Line{{Label: "p50", Values: ranked[0]}, {Label: "p99", Values: ranked[1]}}},
		{Title: "Duration of attempts", Unit: "ms, each " + parts.Coarse(wide.Step), Window: wide, Least: 1,
			Lines: []plot.Line{{Label: "p50", Values: ranked[2]}, {Label: "p99", Values: ranked[3]}}},
	}
	measured := false
	for _, c := range charts {
		c.Tick, c.Clock = shown.tick, shown.clock
		c.Marks = marks
		d.Picture += c.SVG()
		for _, l := range c.Lines {
			row, some := sum(l.Values)
			row.Title, row.Label = c.Title, l.Label
			row.Unit = c.Unit
			d.Rows = append(d.Rows, row)
			measured = measured || some
		}
	}
	d.Marks = s.markList(marks)
	if !measured {
		d.Picture = ""
	}
	return d, nil
}

// widened is the window in steps so wide that half of those with attempts have enough of them.
func widened(w stack.Window, by []int, attempts []float64) stack.Window {
	for _, n := range by {
		wide := stack.Window{From: w.From, Step: w.Step * time.Duration(n), Steps: w.Steps / n}
		var some []float64
		for step := range wide.Steps {
			total := 0.0
			for _, v := range attempts[step*n : (step+1)*n] {
				if !math.IsNaN(v) {
					total += v
				}
			}
			if total > 0 {
				some = append(some, total)
			}
		}
		slices.Sort(some)
		if n == by[len(by)-1] || len(some) > 0 && some[len(some)/2] >= enough {
			return wide
		}
	}
	return w
}

func scaled(values []float64, by float64) []float64 {
	all := make([]float64, len(values))
	for n, v := range values {
		all[n] = by * v
	}
	return all
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
		return numbers{Least: answers.Nothing, Most: answers.Nothing, Last: answers.Nothing}, false
	}
	write := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	return numbers{Least: write(least), Most: write(most), Last: write(last)}, true
}
