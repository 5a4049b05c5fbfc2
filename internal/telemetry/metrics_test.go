package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMetrics_Flush_writesEmbeddedMetricFormat(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics(&out, "test", "deliver", func() time.Time { return time.UnixMilli(1_700_000_000_000) })
	d := Dimensions{Outcome: "retry", Reason: "timeout", Fault: "receiver"}
	m.Count("Attempts", 1, d)
	m.Count("Attempts", 2, d)
	for range 101 {
		m.Millis("Attempt", 1500*time.Microsecond, d)
	}
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2: a line holds 100 values of a metric", len(lines))
	}
	values := make([]any, 100)
	for i := range values {
		values[i] = 1.5
	}
	want := map[string]any{
		"_aws": map[string]any{
			"Timestamp": 1_700_000_000_000.0,
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace":  "Herald/test",
				"Dimensions": []any{[]any{"service", "outcome", "reason", "fault"}},
				"Metrics": []any{
					map[string]any{"Name": "AttemptMillis", "Unit": "Milliseconds"},
					map[string]any{"Name": "Attempts", "Unit": "Count"},
				},
			}},
		},
		"service": "deliver", "outcome": "retry", "reason": "timeout", "fault": "receiver",
		"Attempts": []any{3.0}, "AttemptMillis": values,
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	byName := cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
	if diff := cmp.Diff(want, line, byName); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	out.Reset()
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	if out.Len() != 0 {
		t.Errorf("flushed twice: %q", out.String())
	}
}

func TestMetrics_Flush_quotesWhatDimensionsSay(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics(&out, "test", `de"liver`, func() time.Time { return time.UnixMilli(0) })
	m.Seconds("Age", 90*time.Second, Dimensions{Reason: "a\\b\n\xff"})
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = `{"_aws":{"Timestamp":0,"CloudWatchMetrics":[{"Namespace":"Herald/test",` +
		`"Dimensions":[["service","reason"]],"Metrics":[{"Name":"AgeSeconds","Unit":"Seconds"}]}]},` +
		`"service":"de\"liver","reason":"a\\b\n\ufffd","AgeSeconds":[90]}` + "\n"
	got := strings.ReplaceAll(out.String(), "\ufffd", `\ufffd`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}
