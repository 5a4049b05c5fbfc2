package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/infra/internal/plot"
	"github.com/herald-webhooks/herald/internal/testkit/alarms"
)

// widget is one of the dashboard's with metrics.
type widget struct {
	title string
	lines []line
}

type line struct {
	label, stat string
	metric      alarms.Metric
}

var errNoDashboard = errors.New("the template has no dashboard")

// readWidgets reads the dashboard of a template. Names of resources are their logical ids.
func readWidgets(template string) ([]widget, error) {
	var content struct {
		Resources map[string]struct {
			Properties struct {
				DashboardBody string `yaml:"DashboardBody"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	text, err := os.ReadFile(template) //nolint:gosec // the caller's own
	if err == nil {
		err = yaml.Unmarshal(text, &content)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	for _, r := range content.Resources {
		if r.Properties.DashboardBody == "" {
			continue
		}
		return widgets(os.Expand(r.Properties.DashboardBody, func(name string) string {
			id, _, _ := strings.Cut(name, ".")
			if id == "Stage" {
				return "local"
			}
			return id
		}))
	}
	return nil, errNoDashboard
}

func widgets(body string) (all []widget, err error) {
	var dashboard struct {
		Widgets []struct {
			Properties struct {
				Title, Stat string
				Metrics     [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &dashboard); err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	for _, w := range dashboard.Widgets {
		shown := widget{title: w.Properties.Title}
		var fields []string
		for _, metric := range w.Properties.Metrics {
			l := line{stat: w.Properties.Stat}
			fields = l.read(metric, fields)
			if len(fields) != 4 {
				return nil, fmt.Errorf("%s: %v is not a metric with one dimension", shown.title, metric)
			}
			l.metric = alarms.NewMetric(fields[0], fields[1], map[string]string{fields[2]: fields[3]})
			shown.lines = append(shown.lines, l)
		}
		if len(shown.lines) > 0 {
			all = append(all, shown)
		}
	}
	return all, nil
}

// read takes a metric's options and returns its fields. A "..." stands for fields of the metric before.
func (l *line) read(metric []any, before []string) (fields []string) {
	for _, part := range metric {
		switch part := part.(type) {
		case string:
			fields = append(fields, part)
		case map[string]any:
			l.label, _ = part["label"].(string)
			if stat, given := part["stat"].(string); given {
				l.stat = stat
			}
		}
	}
	if len(fields) > 0 && fields[0] == "..." && len(before) >= len(fields)-1 {
		fields = append(append([]string{}, before[:len(before)-len(fields)+1]...), fields[1:]...)
	}
	return fields
}

// step is the period of the picture: a minute of a schedule lasts five seconds in the local stack.
const step = 5 * time.Second

func picture(all []widget, data *alarms.Data, from, until time.Time) string {
	known := map[alarms.Metric]bool{}
	for _, m := range data.Metrics() {
		known[m] = true
	}
	panels := make([]plot.Panel, len(all))
	for n, w := range all {
		p := plot.Panel{Title: w.title, Step: step, Least: 1}
		provided := true
		for _, l := range w.lines {
			if known[l.metric] {
				p.Lines = append(p.Lines, plot.Line{Label: l.label, Values: values(l, data, from, until)})
			}
			provided = provided && strings.HasPrefix(l.metric.Namespace, "AWS/")
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
func values(l line, data *alarms.Data, from, until time.Time) (all []float64) {
	for at := from; at.Before(until); at = at.Add(step) {
		value, ok, err := data.Statistic(l.metric, l.stat, at, at.Add(step))
		if !ok || err != nil {
			value = math.NaN()
		}
		all = append(all, value)
	}
	return all
}
