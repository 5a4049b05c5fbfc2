package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// emitted are the sums of what a collector writes, by namespace and name.
func emitted(t *testing.T, fill func(*Metrics)) map[string]float64 {
	t.Helper()
	var out bytes.Buffer
	m := NewMetrics(&out, "test", "deliver", time.Now)
	fill(m)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for text := range strings.Lines(out.String()) {
		var line struct {
			AWS struct {
				CloudWatchMetrics []struct {
					Namespace  string
					Dimensions [][]string
				}
			} `json:"_aws"`
			Tried, Faults []float64
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		about := line.AWS.CloudWatchMetrics[0]
		prefix := about.Namespace + " " + strings.Join(about.Dimensions[0], ",") + " "
		for name, values := range map[string][]float64{"Tried": line.Tried, "Faults": line.Faults} {
			for _, v := range values {
				sums[prefix+name] += v
			}
		}
	}
	return sums
}

func TestMetrics_Share_emitsBothOrNeither(t *testing.T) {
	got := emitted(t, func(m *Metrics) { m.Share("Tried", 3, "Faults", 0) })
	want := map[string]float64{"Herald/test service Tried": 3, "Herald/test service Faults": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a part of zero (-want +got):\n%s", diff)
	}
	got = emitted(t, func(m *Metrics) { m.Share("Tried", 0, "Faults", 0) })
	if diff := cmp.Diff(map[string]float64{}, got); diff != "" {
		t.Errorf("no whole (-want +got):\n%s", diff)
	}
}
