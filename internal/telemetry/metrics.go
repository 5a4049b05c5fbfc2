package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// namespace is the CloudWatch namespace of every metric, followed by the stage: stages that share
// an account do not raise each other's alarms.
const namespace = "Herald/"

// Metrics collects counts and durations during one invocation and writes them as
// embedded metric format lines (CloudWatch "Embedded metric format specification"), one line
// per set of dimensions. Dimensions are of low cardinality: outcome, reason, fault; never an
// id. It is safe for concurrent use.
type Metrics struct {
	out       io.Writer
	namespace string
	service   string
	now       func() time.Time

	mu   sync.Mutex
	sets map[Dimensions]set
}

// set is everything collected under the same dimensions.
type set map[metric][]float64

// metric is a metric as EMF declares it.
type metric struct{ Name, Unit string }

// Dimensions tell metrics of one service apart. Empty ones are left out.
type Dimensions struct{ Outcome, Reason, Fault string }

// NewMetrics returns a collector that writes to out on Flush.
func NewMetrics(out io.Writer, stage, service string, now func() time.Time) *Metrics {
	return &Metrics{
		out: out, namespace: namespace + stage, service: service, now: now, sets: map[Dimensions]set{},
	}
}

// Count adds n to a count.
func (m *Metrics) Count(name string, n int, d Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, count, sum := m.set(d), metric{name, "Count"}, float64(n)
	if values := s[count]; len(values) > 0 {
		sum += values[0]
	}
	s[count] = []float64{sum}
}

// Share counts a whole and a part of it with no dimension but service, because an alarm finds a
// metric only under exactly its dimensions. It emits both, or neither if the whole is zero, so an
// alarm never divides by zero.
func (m *Metrics) Share(whole string, n int, part string, k int) {
	if n > 0 {
		m.Count(whole, n, Dimensions{})
		m.Count(part, k, Dimensions{})
	}
}

// Millis adds one duration to the metric name + "Millis".
func (m *Metrics) Millis(name string, took time.Duration, d Dimensions) {
	m.add(metric{name + "Millis", "Milliseconds"}, float64(took.Microseconds())/1000, d)
}

// Seconds adds one duration to the metric name + "Seconds": how late or how old something is.
func (m *Metrics) Seconds(name string, age time.Duration, d Dimensions) {
	m.add(metric{name + "Seconds", "Seconds"}, age.Seconds(), d)
}

func (m *Metrics) add(duration metric, value float64, d Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.set(d)
	s[duration] = append(s[duration], value)
}

func (m *Metrics) set(d Dimensions) set {
	if m.sets[d] == nil {
		m.sets[d] = set{}
	}
	return m.sets[d]
}

// maxValues is the most values of one metric in one EMF line.
const maxValues = 100

// Flush writes all that was collected, at once, and forgets it.
func (m *Metrics) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text bytes.Buffer
	for d, s := range m.sets {
		for len(s) > 0 {
			if err := json.MarshalWrite(&text, m.line(d, s), jsontext.AllowInvalidUTF8(true)); err != nil {
				return fmt.Errorf("encoding metrics: %w", err)
			}
			text.WriteByte('\n')
		}
	}
	clear(m.sets)
	if _, err := text.WriteTo(m.out); err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	return nil
}

// line is one line of the embedded metric format.
type line struct {
	AWS struct {
		Timestamp         int64
		CloudWatchMetrics []declaration
	} `json:"_aws"`
	Service string               `json:"service"`
	Outcome string               `json:"outcome,omitzero"`
	Reason  string               `json:"reason,omitzero"`
	Fault   string               `json:"fault,omitzero"`
	Values  map[string][]float64 `json:",embed"`
}

type declaration struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

// line takes at most maxValues of each metric out of the set.
func (m *Metrics) line(d Dimensions, s set) line {
	l := line{
		Service: m.service, Outcome: d.Outcome, Reason: d.Reason, Fault: d.Fault,
		Values: make(map[string][]float64, len(s)),
	}
	declared := declaration{Namespace: m.namespace, Dimensions: [][]string{{"service"}}}
	for _, dimension := range [][2]string{{"outcome", d.Outcome}, {"reason", d.Reason}, {"fault", d.Fault}} {
		if dimension[1] != "" {
			declared.Dimensions[0] = append(declared.Dimensions[0], dimension[0])
		}
	}
	for metric, values := range s {
		n := min(len(values), maxValues)
		declared.Metrics = append(declared.Metrics, metric)
		l.Values[metric.Name] = values[:n]
		if s[metric] = values[n:]; n == len(values) {
			delete(s, metric)
		}
	}
	l.AWS.Timestamp, l.AWS.CloudWatchMetrics = m.now().UnixMilli(), []declaration{declared}
	return l
}
