package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestMetricsAreEmbeddedMetricFormat(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics(&out, "deliver", func() time.Time { return time.UnixMilli(1_700_000_000_000) })
	d := Dimensions{Outcome: "retry", Reason: "timeout", Fault: "receiver"}
	m.Count("Attempts", 1, d)
	m.Count("Attempts", 2, d)
	for range maxValues + 1 {
		m.Millis("Attempt", 1500*time.Microsecond, d)
	}
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2: a line holds 100 values of a metric", len(lines))
	}
	var line struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
		Service, Outcome, Reason, Fault string
		Attempts                        []float64
		AttemptMillis                   []float64
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	c := line.AWS.CloudWatchMetrics[0]
	if line.AWS.Timestamp != 1_700_000_000_000 || c.Namespace != namespace || strings.Join(c.Dimensions[0], ",") != "service,outcome,reason,fault" ||
		line.Service != "deliver" || line.Reason != "timeout" || line.Attempts[0] != 3 ||
		len(line.AttemptMillis) != maxValues ||
		line.AttemptMillis[0] != 1.5 {
		t.Errorf("%s", lines[0])
	}
	for _, definition := range c.Metrics {
		if want := map[string]string{"Attempts": "Count", "AttemptMillis": "Milliseconds"}[definition.Name]; definition.Unit != want {
			t.Errorf("%s is in %s", definition.Name, definition.Unit)
		}
	}
	out.Reset()
	if err := m.Flush(); err != nil || out.Len() != 0 {
		t.Errorf("flushed twice: %q, %v", out.String(), err)
	}
}
