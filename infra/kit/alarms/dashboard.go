package alarms

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Widget is a widget that shows metrics, or a text.
type Widget struct {
	Title string
	Lines []Line
	Text  string  // Markdown, in place of metrics
	Width int     // of the 24 columns
	Mark  float64 // a value with a line across the widget; 0 for none
}

// Line is one metric of a widget.
type Line struct {
	Label, Stat string
	Metric      Metric
}

// Widgets reads the body of an AWS::CloudWatch::Dashboard with its references resolved, and returns the widgets with
// metrics.
func Widgets(body string) (all []Widget, err error) {
	all, err = Layout(body)
	return slices.DeleteFunc(all, func(w Widget) bool { return len(w.Lines) == 0 }), err
}

// Layout returns all widgets, texts included.
func Layout(body string) (all []Widget, err error) {
	var dashboard struct {
		Widgets []struct {
			Width      int
			Properties struct {
				Title, Stat, Markdown string
				Metrics               [][]any
				Annotations           struct{ Horizontal []struct{ Value float64 } }
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &dashboard); err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	for _, w := range dashboard.Widgets {
		shown := Widget{Title: w.Properties.Title, Text: w.Properties.Markdown, Width: w.Width}
		for _, line := range w.Properties.Annotations.Horizontal {
			shown.Mark = line.Value
		}
		var fields []string
		for _, metric := range w.Properties.Metrics {
			l := Line{Stat: w.Properties.Stat}
			fields = l.read(metric, fields)
			if len(fields) < 4 || len(fields)%2 != 0 {
				return nil, fmt.Errorf("%s: %v is not a metric with dimensions", shown.Title, metric)
			}
			dimensions := map[string]string{}
			for pair := range slices.Chunk(fields[2:], 2) {
				dimensions[pair[0]] = pair[1]
			}
			l.Metric = NewMetric(fields[0], fields[1], dimensions)
			shown.Lines = append(shown.Lines, l)
		}
		all = append(all, shown)
	}
	return all, nil
}

// read takes a metric's options and returns its fields. A "..." stands for fields of the metric before.
func (l *Line) read(metric []any, before []string) (fields []string) {
	for _, part := range metric {
		switch part := part.(type) {
		case string:
			fields = append(fields, part)
		case map[string]any:
			l.Label, _ = part["label"].(string)
			if stat, given := part["stat"].(string); given {
				l.Stat = stat
			}
		}
	}
	if len(fields) > 0 && fields[0] == "..." && len(before) >= len(fields)-1 {
		fields = append(slices.Clone(before[:len(before)-len(fields)+1]), fields[1:]...)
	}
	return fields
}
