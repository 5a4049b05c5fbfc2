package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/plot"
)

// lateness draws the share of others' first attempts that were late under each attack, from its longest run. It returns
// "" unless all attacks were played.
func lateness(results []Result) string {
	longest := map[string]Result{}
	var names []string
	for _, r := range results {
		if r.Kind != Attack || r.Fair {
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
	for _, r := range longest {
		if r.Length < time.Hour { // a point is no drawing
			return ""
		}
	}
	var panels []plot.Panel
	for _, name := range names {
		r := longest[name]
		p := plot.Panel{
			Title: fmt.Sprintf("%s, others %s/s", name, plot.Thousands(int(r.Rate))), Unit: "% late", Step: binLength, Least: 1,
		}
		var late []float64
		for _, b := range r.Bins[:min(int(r.Length/binLength)+1, len(r.Bins))] {
			late = append(late, 100*float64(b.Late)/float64(max(b.First, 1)))
		}
		p.Lines = []plot.Line{{Values: late}}
		panels = append(panels, p)
	}
	return plot.Drawing(2, panels)
}

// recovery draws one receiver's outage of a day, its backlog and its deliveries; "" unless that was played.
func recovery(results []Result) string {
	n := slices.IndexFunc(results, func(r Result) bool { return r.Name == "day" })
	if n < 0 {
		return ""
	}
	r := results[n]
	panel := func(title, unit string, value func(n int) int) plot.Panel {
		values := make([]float64, len(r.Samples))
		for n := range r.Samples {
			values[n] = float64(value(n))
		}
		return plot.Panel{
			Title: title, Unit: unit, Lines: []plot.Line{{Values: values}}, Step: time.Minute, Least: 1,
			Marks: []time.Duration{calm, r.Length},
		}
	}
	return plot.Drawing(1, []plot.Panel{
		panel("Waiting in Backlog", "deliveries", func(n int) int { return r.Samples[n].Backlog }),
		panel("POSTs to the receiver, by minute", "POSTs", func(n int) int {
			return r.Samples[n].Posts - r.Samples[max(n-1, 0)].Posts*min(n, 1)
		}),
		panel("Not delivered yet", "deliveries", func(n int) int { return r.Samples[n].Left }),
	})
}

// drawnPace is how much of the first minutes is drawn second by second.
const drawnPace = 6 * time.Minute

// paced draws the flood that was played to its end: the deliveries published, sent and waiting in each second. It
// returns "" unless that flood was played.
func paced(results []Result) string {
	n := slices.IndexFunc(results, func(r Result) bool { return r.Kind == Paced && r.Variant == toItsEnd })
	if n < 0 {
		return ""
	}
	r := results[n]
	bySecond := func(title string, all []int) plot.Panel {
		var values []float64
		for _, n := range all[:min(int(drawnPace/time.Second), len(all))] {
			values = append(values, float64(n))
		}
		return plot.Panel{
			Title: title, Unit: "deliveries", Lines: []plot.Line{{Values: values}}, Step: time.Second,
			Least: float64(2 * r.limit),
		}
	}
	var waiting []float64
	for _, s := range r.Samples {
		waiting = append(waiting, float64(s.Backlog))
	}
	return plot.Drawing(1, []plot.Panel{
		bySecond("Published, by second", r.Pace.Published),
		bySecond(fmt.Sprintf("Sent to the endpoint with %d/s, by second", r.limit), r.Pace.Sent),
		{
			Title: "Waiting in Backlog", Unit: "deliveries", Lines: []plot.Line{{Values: waiting}}, Step: time.Minute, Least: 1,
		},
	})
}
