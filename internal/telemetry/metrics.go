package telemetry

import (
	"fmt"
	"io"
	"strings"
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
	sets map[Dimensions]map[string][]float64
}

// Dimensions tell metrics of one service apart. Empty ones are left out.
type Dimensions struct{ Outcome, Reason, Fault string }

// Metric units of EMF.
const (
	unitCount        = "Count"
	unitMilliseconds = "Milliseconds"
	unitSeconds      = "Seconds"
)

// NewMetrics returns a collector that writes to out on Flush.
func NewMetrics(out io.Writer, stage, service string, now func() time.Time) *Metrics {
	return &Metrics{
		out: out, namespace: namespace + stage, service: service, now: now, sets: map[Dimensions]map[string][]float64{},
	}
}

// Count adds n to a count.
func (m *Metrics) Count(name string, n int, d Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := m.set(d)
	if len(set[name]) == 0 {
		set[name] = []float64{0}
	}
	set[name][0] += float64(n)
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

// The suffixes mark metrics that are durations.
const (
	millisSuffix  = "Millis"
	secondsSuffix = "Seconds"
)

// Millis adds one duration to the metric name + "Millis".
func (m *Metrics) Millis(name string, took time.Duration, d Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := m.set(d)
	name += millisSuffix
	set[name] = append(set[name], float64(took.Microseconds())/1000)
}

// Seconds adds one duration to the metric name + "Seconds": how late or how old something is.
func (m *Metrics) Seconds(name string, d time.Duration, dimensions Dimensions) {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := m.set(dimensions)
	name += secondsSuffix
	set[name] = append(set[name], d.Seconds())
}

func (m *Metrics) set(d Dimensions) map[string][]float64 {
	set := m.sets[d]
	if set == nil {
		set = map[string][]float64{}
		m.sets[d] = set
	}
	return set
}

// maxValues is the most values of one metric in one EMF line.
const maxValues = 100

// Flush writes what was collected and forgets it. It flushes an Output, too: the metrics are
// the last that an invocation writes.
func (m *Metrics) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d, set := range m.sets {
		for len(set) > 0 {
			if err := m.line(d, set); err != nil {
				return fmt.Errorf("writing metrics: %w", err)
			}
		}
		delete(m.sets, d)
	}
	if gathered, ok := m.out.(*Output); ok {
		return gathered.Flush()
	}
	return nil
}

// emf is one line of the embedded metric format.
type emf struct {
	AWS struct {
		Timestamp         int64 // Unix milliseconds
		CloudWatchMetrics [1]definition
	} `json:"_aws"`
	Service string               `json:"service"`
	Outcome string               `json:"outcome,omitempty"`
	Reason  string               `json:"reason,omitempty"`
	Fault   string               `json:"fault,omitempty"`
	Values  map[string][]float64 `json:",embed"`
}

type definition struct {
	Namespace  string
	Dimensions [1][]string // names of the members of emf that are dimensions
	Metrics    []metric
}

type metric struct{ Name, Unit string }

// line writes one EMF line with at most maxValues of each metric and takes them out of set.
func (m *Metrics) line(d Dimensions, set map[string][]float64) error {
	line := emf{
		Service: m.service, Outcome: d.Outcome, Reason: d.Reason, Fault: d.Fault,
		Values: make(map[string][]float64, len(set)),
	}
	line.AWS.Timestamp = m.now().UnixMilli()
	about := &line.AWS.CloudWatchMetrics[0]
	about.Namespace = m.namespace
	about.Dimensions[0] = d.names()
	for name, values := range set {
		unit := unitCount
		switch {
		case strings.HasSuffix(name, millisSuffix):
			unit = unitMilliseconds
		case strings.HasSuffix(name, secondsSuffix):
			unit = unitSeconds
		}
		about.Metrics = append(about.Metrics, metric{name, unit})
		n := min(len(values), maxValues)
		line.Values[name] = values[:n]
		if set[name] = values[n:]; len(set[name]) == 0 {
			delete(set, name)
		}
	}
	b, err := json.Marshal(line, jsontext.EscapeForHTML(false))
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err = m.out.Write(append(b, '\n'))
	return err
}

func (d Dimensions) names() []string {
	names := append(make([]string, 0, 4), "service")
	for _, dimension := range []struct{ name, value string }{
		{"outcome", d.Outcome}, {"reason", d.Reason}, {"fault", d.Fault},
	} {
		if dimension.value != "" {
			names = append(names, dimension.name)
		}
	}
	return names
}
