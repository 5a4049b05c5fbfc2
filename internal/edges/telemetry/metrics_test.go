package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMetrics_Flush_writesEmbeddedMetricFormat(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics(&out, "test", "deliver", func() time.Time { return time.UnixMilli(1_700_000_000_000) })
	m.Count("Records", 1)
	m.Count("Records", 2)
	m.Share("Faults", 1, 3)
	m.Share("Never", 0, 0)
	m.Seconds("Age", 90*time.Second)
	for range 101 {
		m.Millis("Attempt", 1500*time.Microsecond)
	}
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2: a line holds 100 values of a metric", len(lines))
	}
	want := map[string]any{
		"_aws": map[string]any{
			"Timestamp": 1_700_000_000_000.0,
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace":  "Herald/test",
				"Dimensions": []any{[]any{"service"}},
				"Metrics": []any{
					map[string]any{"Name": "AgeSeconds", "Unit": "Seconds"},
					map[string]any{"Name": "AttemptMillis", "Unit": "Milliseconds"},
					map[string]any{"Name": "Faults", "Unit": "Count"},
					map[string]any{"Name": "Records", "Unit": "Count"},
				},
			}},
		},
		"service":    "deliver",
		"AgeSeconds": []any{90.0},
		"Records":    []any{3.0}, "Faults": []any{1.0, 0.0, 0.0}, "AttemptMillis": slices.Repeat([]any{1.0}, 100),
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

func TestMetrics_Flush_failsWhereNothingIsWritten(t *testing.T) {
	in, out := io.Pipe()
	_ = in.Close()
	m := NewMetrics(out, "test", "deliver", time.Now)
	m.Count("Records", 1)
	if err := m.Flush(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("flushed into a closed pipe: %v", err)
	}
}
