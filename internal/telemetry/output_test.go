package telemetry

import (
	"strings"
	"testing"
	"time"
)

// writes keeps what each write brought.
type writes []string

func (w *writes) Write(p []byte) (int, error) { *w = append(*w, string(p)); return len(p), nil }

// lines is how many lines each write brought.
func (w *writes) lines() []int {
	var n []int
	for _, written := range *w {
		n = append(n, strings.Count(written, "\n"))
	}
	return n
}

func TestOutput_gathersLinesUntilTheMetricsAreFlushed(t *testing.T) {
	var w writes
	out := NewOutput(&w)
	log, metrics := NewLogger(out), NewMetrics(out, "test", "deliver", time.Now)
	log.InfoContext(t.Context(), "attempt", KeyOutcome, "acknowledged")
	log.InfoContext(t.Context(), "attempt", KeyOutcome, "acknowledged")
	metrics.Count("Attempts", 2, Dimensions{Outcome: "acknowledged"})
	if len(w) != 0 {
		t.Fatalf("written before the end: %q", w)
	}
	if err := metrics.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := w.lines(); len(n) != 1 || n[0] != 3 {
		t.Fatalf("lines of each write: %v, want 3 in one: %q", n, w)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(w) != 1 {
		t.Errorf("nothing is written as %q", w[1])
	}
}

func TestOutput_keepsNoWarningAndNoLongLogBack(t *testing.T) {
	var w writes
	log := NewLogger(NewOutput(&w)).With("a", 1).WithGroup("g")
	log.Info("first")
	log.Warn("second")
	if n := w.lines(); len(n) != 1 || n[0] != 2 {
		t.Fatalf("lines of each write: %v, want 2 in one: %q", n, w)
	}
	for range 100 {
		log.Info(strings.Repeat("x", 1000))
	}
	if len(w) != 2 {
		t.Fatalf("%d writes after 100 KB, want 2", len(w))
	}
	if len(w[1]) < maxGathered {
		t.Errorf("written after %d bytes, before %d have gathered", len(w[1]), maxGathered)
	}
}
