package telemetry

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

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
	sets map[Dimensions]*set
	text []byte // the lines being written
}

// set is what was collected under the same dimensions, in order of first use.
type set struct{ metrics []values }

type values struct {
	name string
	kind kind
	all  []float64
}

// kind is what a metric counts: the suffix of its name, if it counts a time, and its unit in EMF.
type kind struct{ suffix, unit string }

var (
	count   = kind{"", "Count"}
	millis  = kind{"Millis", "Milliseconds"}
	seconds = kind{"Seconds", "Seconds"}
)

// of returns the values of a metric.
func (s *set) of(name string, k kind) *values {
	for i := range s.metrics {
		if s.metrics[i].name == name && s.metrics[i].kind == k {
			return &s.metrics[i]
		}
	}
	s.metrics = append(s.metrics, values{name: name, kind: k})
	return &s.metrics[len(s.metrics)-1]
}

// Dimensions tell metrics of one service apart. Empty ones are left out.
type Dimensions struct{ Outcome, Reason, Fault string }

// NewMetrics returns a collector that writes to out on Flush.
func NewMetrics(out io.Writer, stage, service string, now func() time.Time) *Metrics {
	return &Metrics{
		out: out, namespace: namespace + stage, service: service, now: now, sets: map[Dimensions]*set{},
	}
}

// Count adds n to a count.
func (m *Metrics) Count(name string, n int, d Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	metric := m.set(d).of(name, count)
	if len(metric.all) == 0 {
		metric.all = append(metric.all, 0)
	}
	metric.all[0] += float64(n)
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
	m.mu.Lock()
	defer m.mu.Unlock()
	metric := m.set(d).of(name, millis)
	metric.all = append(metric.all, float64(took.Microseconds())/1000)
}

// Seconds adds one duration to the metric name + "Seconds": how late or how old something is.
func (m *Metrics) Seconds(name string, d time.Duration, dimensions Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	metric := m.set(dimensions).of(name, seconds)
	metric.all = append(metric.all, d.Seconds())
}

func (m *Metrics) set(d Dimensions) *set {
	s := m.sets[d]
	if s == nil {
		s = &set{}
		m.sets[d] = s
	}
	return s
}

// maxValues is the most values of one metric in one EMF line.
const maxValues = 100

// Flush writes all that was collected, at once, and forgets it.
func (m *Metrics) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = m.text[:0]
	for d, s := range m.sets {
		for len(s.metrics) > 0 {
			m.text = m.appendLine(m.text, d, s.metrics)
			s.written()
		}
		delete(m.sets, d)
	}
	if len(m.text) == 0 {
		return nil
	}
	if _, err := m.out.Write(m.text); err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	return nil
}

// written takes out what one line has taken, at most maxValues of each metric.
func (s *set) written() {
	left := s.metrics[:0]
	for _, metric := range s.metrics {
		if metric.all = metric.all[min(len(metric.all), maxValues):]; len(metric.all) > 0 {
			left = append(left, metric)
		}
	}
	s.metrics = left
}

// appendLine appends one line of the embedded metric format. Metric names are constants and need no
// quoting; the values of dimensions may.
func (m *Metrics) appendLine(b []byte, d Dimensions, metrics []values) []byte {
	members := [...]struct{ name, value string }{
		{"service", m.service}, {"outcome", d.Outcome}, {"reason", d.Reason}, {"fault", d.Fault},
	}
	b = append(b, `{"_aws":{"Timestamp":`...)
	b = strconv.AppendInt(b, m.now().UnixMilli(), 10)
	b = append(b, `,"CloudWatchMetrics":[{"Namespace":`...)
	b = appendText(b, m.namespace)
	b = append(b, `,"Dimensions":[["service"`...)
	for _, member := range members[1:] {
		if member.value != "" {
			b = append(append(append(b, `,"`...), member.name...), '"')
		}
	}
	b = append(b, `]],"Metrics":[`...)
	for i, metric := range metrics {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(metric.appendName(append(b, `{"Name":"`...)), `","Unit":"`...)
		b = append(append(b, metric.kind.unit...), `"}`...)
	}
	b = append(b, `]}]}`...)
	for i, member := range members {
		if i == 0 || member.value != "" {
			b = append(append(append(b, `,"`...), member.name...), `":`...)
			b = appendText(b, member.value)
		}
	}
	for _, metric := range metrics {
		b = append(metric.appendName(append(b, `,"`...)), `":[`...)
		for i, value := range metric.all[:min(len(metric.all), maxValues)] {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, value, 'f', -1, 64)
		}
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}

func (v *values) appendName(b []byte) []byte { return append(append(b, v.name...), v.kind.suffix...) }

// appendText appends a JSON string. Invalid UTF-8 is replaced, so that the line stays valid JSON.
func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}
