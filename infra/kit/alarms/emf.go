package alarms

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CloudWatch's limits of one EMF document ("Specification: Embedded metric format").
const (
	maxDocument   = 1 << 20
	maxDimensions = 30
	maxMetrics    = 100
	maxValues     = 100
)

type document struct {
	AWS *struct {
		Timestamp         int64
		CloudWatchMetrics []directive
	} `json:"_aws"`
	Members map[string]jsontext.Value `json:",embed"`
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []struct{ Name, Unit string }
}

// ReadEMF adds the metrics of a function's output, one document a line. Other lines are log lines
// and pass. A document that CloudWatch would drop, in whole or in part, is an error.
func (d *Data) ReadEMF(output io.Reader) error {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, maxDocument)
	for lines.Scan() {
		var doc document
		if err := json.Unmarshal(lines.Bytes(), &doc); err != nil || doc.AWS == nil {
			continue
		}
		if err := d.add(doc); err != nil {
			return fmt.Errorf("%w in %s", err, lines.Text())
		}
	}
	return lines.Err()
}

func (d *Data) add(doc document) error {
	at := time.UnixMilli(doc.AWS.Timestamp)
	if doc.AWS.Timestamp <= 0 || len(doc.AWS.CloudWatchMetrics) == 0 {
		return errors.New("no timestamp or no directive")
	}
	for _, about := range doc.AWS.CloudWatchMetrics {
		if about.Namespace == "" || len(about.Dimensions) == 0 || len(about.Metrics) == 0 || len(about.Metrics) > maxMetrics {
			return errors.New("a directive without namespace, dimensions or metrics")
		}
		for _, names := range about.Dimensions {
			dimensions, err := doc.dimensions(names)
			if err != nil {
				return err
			}
			for _, metric := range about.Metrics {
				values, err := doc.values(metric.Name)
				if err != nil {
					return err
				}
				d.Put(NewMetric(about.Namespace, metric.Name, dimensions), at, values...)
			}
		}
	}
	return nil
}

// dimensions reads one dimension set: the members of these names, which are text.
func (doc document) dimensions(names []string) (map[string]string, error) {
	if len(names) > maxDimensions {
		return nil, fmt.Errorf("%d dimensions", len(names))
	}
	dimensions := make(map[string]string, len(names))
	for _, name := range names {
		var value string
		if err := json.Unmarshal(doc.Members[name], &value); err != nil || value == "" {
			return nil, fmt.Errorf("the dimension %s is not a text", name)
		}
		dimensions[name] = value
	}
	return dimensions, nil
}

// values reads a metric: a number, or up to a hundred.
func (doc document) values(name string) ([]float64, error) {
	var values []float64
	raw := doc.Members[name]
	if raw.Kind() != '[' {
		raw = jsontext.Value("[" + string(raw) + "]")
	}
	if err := json.Unmarshal(raw, &values); err != nil || len(values) == 0 || len(values) > maxValues {
		return nil, fmt.Errorf("the metric %s is not one to %d numbers", name, maxValues)
	}
	return values, nil
}
