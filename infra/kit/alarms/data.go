// Package alarms evaluates the CloudWatch alarms of the template over metrics held in memory, so that a test can say
// which alarms a bad day raises.
//
// It reads the handlers' real output ([Data.ReadEMF]: the embedded metric format, as CloudWatch Logs reads it) and a
// test's values for AWS's own metrics ([Data.Put]). An alarm ([Parse]) finds data only under exactly its namespace,
// name and dimensions, as in CloudWatch.
//
// It covers the template's alarms and refuses the rest, as well as expressions with a result that would depend on how
// CloudWatch compares missing data: a silent guess would be worth nothing. Windows slide by the minute. It knows
// neither anomaly detection, composite alarms nor periods below a minute. It is for tests and is not part of the
// service.
package alarms

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Metric is one metric as CloudWatch tells it apart.
type Metric struct {
	Namespace, Name string
	dimensions      string // "name=value" sorted and joined: comparable
}

// NewMetric returns the metric with exactly these dimensions.
func NewMetric(namespace, name string, dimensions map[string]string) Metric {
	pairs := make([]string, 0, len(dimensions))
	for _, dimension := range slices.Sorted(maps.Keys(dimensions)) {
		pairs = append(pairs, dimension+"="+dimensions[dimension])
	}
	return Metric{Namespace: namespace, Name: name, dimensions: strings.Join(pairs, ",")}
}

// Dimensions are the metric's dimensions by name.
func (m Metric) Dimensions() map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(m.dimensions, ",") {
		if name, value, found := strings.Cut(pair, "="); found {
			all[name] = value
		}
	}
	return all
}

func (m Metric) String() string {
	return m.Namespace + " " + m.Name + " {" + m.dimensions + "}"
}

// Data holds the values of metrics. The zero value is empty and ready to use.
type Data struct {
	samples map[Metric][]sample
}

type sample struct {
	at    time.Time
	value float64
}

// Len is the number of metrics.
func (d *Data) Len() int { return len(d.samples) }

// Put adds values of a metric at one time.
func (d *Data) Put(m Metric, at time.Time, values ...float64) {
	if d.samples == nil {
		d.samples = map[Metric][]sample{}
	}
	for _, v := range values {
		d.samples[m] = append(d.samples[m], sample{at, v})
	}
}

// Metrics returns every metric that has a value, sorted by its text.
func (d *Data) Metrics() []Metric {
	return slices.SortedFunc(maps.Keys(d.samples), func(a, b Metric) int {
		return strings.Compare(a.String(), b.String())
	})
}

// Statistic aggregates the samples in [from, until). ok is false where there are none.
func (d *Data) Statistic(m Metric, stat string, from, until time.Time) (value float64, ok bool, err error) {
	var values []float64
	for _, s := range d.samples[m] {
		if !s.at.Before(from) && s.at.Before(until) {
			values = append(values, s.value)
		}
	}
	aggregate, err := aggregation(stat)
	if err != nil || len(values) == 0 {
		return 0, false, err
	}
	return aggregate(values), true, nil
}

// aggregation returns the function of a statistic.
func aggregation(stat string) (func([]float64) float64, error) {
	switch stat {
	case "Sum":
		return sum, nil
	case "SampleCount":
		return func(values []float64) float64 { return float64(len(values)) }, nil
	case "Average":
		return func(values []float64) float64 { return sum(values) / float64(len(values)) }, nil
	case "Minimum":
		return slices.Min[[]float64], nil
	case "Maximum":
		return slices.Max[[]float64], nil
	}
	percent, isPercentile := strings.CutPrefix(stat, "p")
	if p, err := strconv.ParseFloat(percent, 64); isPercentile && err == nil && p > 0 && p <= 100 {
		return func(values []float64) float64 { return percentile(values, p) }, nil
	}
	return nil, fmt.Errorf("the statistic %q is not modelled", stat)
}

// percentile is the smallest value that p percent of the values do not exceed; CloudWatch interpolates.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(p/100*float64(len(sorted))))-1, 0)]
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}
