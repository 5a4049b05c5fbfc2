package main

import (
	"errors"
	"math"
	"os"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/infra/kit/plot"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

var errNoDashboard = errors.New("the template has no dashboard")

// readWidgets reads the dashboard of a template. Names of resources are their logical ids.
func readWidgets(file string) ([]alarms.Widget, error) {
	template, err := cfn.Read(file)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the template
	}
	for _, r := range template.OfType("AWS::CloudWatch::Dashboard") {
		body, _ := cfn.At(r.Properties, "DashboardBody")["Fn::Sub"].(string)
		return alarms.Widgets(os.Expand(body, func(name string) string { //nolint:wrapcheck // likewise
			id, _, _ := strings.Cut(name, ".")
			if id == parameters.Stage {
				return "local"
			}
			return id
		}))
	}
	return nil, errNoDashboard
}

// step is the period of the picture: a minute of a schedule lasts five seconds in the local stack.
const step = 5 * time.Second

func picture(all []alarms.Widget, data *alarms.Data, from, until time.Time) string {
	known := map[alarms.Metric]bool{}
	for _, m := range data.Metrics() {
		known[m] = true
	}
	panels := make([]plot.Panel, len(all))
	for n, w := range all {
		p := plot.Panel{Title: w.Title, Step: step, Least: 1}
		provided := true
		for _, l := range w.Lines {
			if known[l.Metric] {
				p.Lines = append(p.Lines, plot.Line{Label: l.Label, Values: values(l, data, from, until)})
			}
			provided = provided && strings.HasPrefix(l.Metric.Namespace, "AWS/")
		}
		switch {
		case len(p.Lines) > 0:
		case provided:
			p.Note = "CloudWatch's own metrics: on AWS only"
		default:
			p.Note = "nothing in this run"
		}
		panels[n] = p
	}
	const columns = 4
	return plot.Drawing(columns, panels)
}

// values are a metric's at every step; one without data is a gap.
func values(l alarms.Line, data *alarms.Data, from, until time.Time) (all []float64) {
	for at := from; at.Before(until); at = at.Add(step) {
		value, ok, err := data.Statistic(l.Metric, l.Stat, at, at.Add(step))
		if !ok || err != nil {
			value = math.NaN()
		}
		all = append(all, value)
	}
	return all
}
