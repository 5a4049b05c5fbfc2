package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// namespace is the CloudWatch namespace of every metric, followed by the stage: stages that share
// an account do not raise each other's alarms.
const namespace = "Herald/"

// Metrics collects counts and durations during one invocation and writes them in the
// embedded metric format (CloudWatch "Embedded metric format specification"). Their only dimension
// is the service: CloudWatch bills every combination as a metric, and log lines have the rest. It is
// safe for concurrent use.
type Metrics struct {
	out       io.Writer
	namespace string
	service   string
	now       func() time.Time

	mu     sync.Mutex
	values map[metric][]float64
}

// metric is a metric as EMF declares it.
type metric struct{ Name, Unit string }

// NewMetrics returns a collector that writes to out on Flush.
func NewMetrics(out io.Writer, stage, service string, now func() time.Time) *Metrics {
	return &Metrics{
		out: out, namespace: namespace + stage, service: service, now: now, values: map[metric][]float64{},
	}
}

// Count adds n to a count.
func (m *Metrics) Count(name string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count, sum := metric{name, "Count"}, float64(n)
	if values := m.values[count]; len(values) > 0 {
		sum += values[0]
	}
	m.values[count] = []float64{sum}
}

// Share adds a 1 for each of k out of n, and a 0 for each of the rest. So one metric has the whole
// (SampleCount), the part (Sum) and the share (Average), and an alarm divides nothing.
func (m *Metrics) Share(name string, k, n int) {
	for i := range n {
		value := 0.0
		if i < k {
			value = 1
		}
		m.add(metric{name, "Count"}, value)
	}
}

// Millis adds one duration to the metric name + "Millis".
func (m *Metrics) Millis(name string, took time.Duration) {
	m.add(metric{name + "Millis", "Milliseconds"}, float64(took.Milliseconds()))
}

// Seconds adds one duration to the metric name + "Seconds": how late or how old something is.
func (m *Metrics) Seconds(name string, age time.Duration) {
	m.add(metric{name + "Seconds", "Seconds"}, float64(age.Milliseconds())/1000)
}

func (m *Metrics) add(to metric, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[to] = append(m.values[to], value)
}

// maxValues is the most values of one metric in one EMF line.
const maxValues = 100

// Flush writes and forgets all collected values.
func (m *Metrics) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.out == io.Discard {
		// The metrics are not read, as in tests with fake time.
		clear(m.values)
		return nil
	}
	var text bytes.Buffer
	for len(m.values) > 0 {
		if err := json.MarshalWrite(&text, m.line()); err != nil {
			return fmt.Errorf("encoding metrics: %w", err)
		}
		text.WriteByte('\n')
	}
	if _, err := text.WriteTo(m.out); err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	return nil
}

// line is a line of the embedded metric format, with at most maxValues collected values of each metric.
func (m *Metrics) line() map[string]any {
	line := map[string]any{"service": m.service}
	var declared []metric
	for metric, values := range m.values {
		n := min(len(values), maxValues)
		declared = append(declared, metric)
		line[metric.Name] = values[:n]
		m.values[metric] = values[n:]
		if n == len(values) {
			delete(m.values, metric)
		}
	}
	line["_aws"] = map[string]any{
		"Timestamp": m.now().UnixMilli(),
		"CloudWatchMetrics": []map[string]any{{
			"Namespace": m.namespace, "Dimensions": [][]string{{"service"}}, "Metrics": declared,
		}},
	}
	return line
}
