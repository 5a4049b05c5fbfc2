package telemetry

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
)

// writes keeps what each write brought.
type writes []string

func (w *writes) Write(p []byte) (int, error) { *w = append(*w, string(p)); return len(p), nil }

func TestNewLogger_writesLambdasFormatAtOnce(t *testing.T) {
	var w writes
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
	NewLogger(&w).With("a", 1).WithGroup("g").InfoContext(ctx, "attempt", KeyOutcome, "acknowledged")
	if len(w) != 1 {
		t.Fatalf("%d writes, want 1", len(w))
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(w[0]), &line); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.RFC3339, line["timestamp"].(string)); err != nil {
		t.Error(err)
	}
	delete(line, "timestamp")
	want := map[string]any{
		"level": "INFO", "message": "attempt", "a": 1.0,
		"g": map[string]any{"outcome": "acknowledged", "requestId": "request-1"},
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestNewLogger_takesItsLevelFromLambda(t *testing.T) {
	for level, want := range map[string]string{
		"DEBUG": "DEBUG INFO WARN ERROR", "INFO": "INFO WARN ERROR", "": "INFO WARN ERROR", "ERROR": "INFO WARN ERROR",
	} {
		t.Run(level, func(t *testing.T) {
			t.Setenv("AWS_LAMBDA_LOG_LEVEL", level)
			var w writes
			log := NewLogger(&w)
			log.Debug("DEBUG")
			log.Info("INFO")
			log.Warn("WARN")
			log.Error("ERROR")
			var got []string
			for _, line := range w {
				var l struct{ Message string }
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				got = append(got, l.Message)
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
