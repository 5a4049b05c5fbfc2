package telemetry

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// writes keeps what each write brought.
type writes []string

func (w *writes) Write(p []byte) (int, error) { *w = append(*w, string(p)); return len(p), nil }

func TestLinesGatherUntilTheMetricsAreFlushed(t *testing.T) {
	var w writes
	out := NewOutput(&w)
	log, metrics := out.Logger(), NewMetrics(out, "deliver", time.Now)
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
	log.InfoContext(ctx, "attempt", KeyOutcome, "acknowledged")
	log.InfoContext(ctx, "attempt", KeyOutcome, "acknowledged")
	metrics.Count("Attempts", 2, Dimensions{Outcome: "acknowledged"})
	if len(w) != 0 {
		t.Fatalf("written before the end: %q", w)
	}
	if err := metrics.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(w) != 1 || strings.Count(w[0], "\n") != 3 {
		t.Fatalf("%d writes: %q", len(w), w)
	}
	var line struct{ Level, Message, RequestID, Outcome, Timestamp string }
	if err := json.Unmarshal([]byte(strings.SplitN(w[0], "\n", 2)[0]), &line); err != nil ||
		line.Level != "INFO" || line.Message != "attempt" || line.RequestID != "request-1" || line.Outcome != "acknowledged" || line.Timestamp == "" {
		t.Errorf("%s: %v", w[0], err)
	}
	if err := out.Flush(); err != nil || len(w) != 1 {
		t.Errorf("nothing is written as %q, %v", w, err)
	}
}

func TestWarningsAndLongLogsDoNotWait(t *testing.T) {
	var w writes
	out := NewOutput(&w)
	log := out.Logger().With("a", 1).WithGroup("g")
	log.Info("first")
	log.Warn("second")
	if len(w) != 1 || strings.Count(w[0], "\n") != 2 || strings.Count(w[0], `"a":1`) != 2 {
		t.Errorf("%d writes: %q", len(w), w)
	}
	for range 100 {
		log.Info(strings.Repeat("x", 1000))
	}
	if len(w) != 2 || len(w[1]) < maxGathered {
		t.Errorf("%d writes of 100 KB", len(w))
	}
}

func TestTheLogLevelIsLambdas(t *testing.T) {
	for level, want := range map[string]bool{"DEBUG": true, "INFO": false, "": false} {
		t.Setenv("AWS_LAMBDA_LOG_LEVEL", level)
		var w writes
		out := NewOutput(&w)
		out.Logger().Debug("detail")
		if err := out.Flush(); err != nil || (len(w) == 1) != want {
			t.Errorf("%q: %q, %v", level, w, err)
		}
	}
}
