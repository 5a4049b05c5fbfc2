package stack

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
)

var minute = Window{From: now, Step: time.Minute, Steps: 2}

// The log is as the functions write it.
func TestLogged_readsTheFunctionsMetrics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deliver.log")
	var log bytes.Buffer
	metrics := telemetry.NewMetrics(&log, "local", "deliver", func() time.Time { return now.Add(time.Minute) })
	metrics.Millis("Attempt", 10*time.Millisecond)
	metrics.Millis("Attempt", 30*time.Millisecond)
	if err := errors.Join(metrics.Flush(), os.WriteFile(path, log.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	got, err := Logged{path}.Read(t.Context(), minute, []Curve{
		{Metric: "AttemptMillis", Stat: "SampleCount"}, {Metric: "AttemptMillis", Stat: "p99"},
		{Metric: "Other", Stat: "Sum"},
	})
	none := math.NaN()
	want := [][]float64{{none, 2}, {none, 30}, {none, none}}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// metricData answers like CloudWatch: pages, newest values first, nothing for steps without data.
type metricData struct {
	asked []*cloudwatch.GetMetricDataInput
}

func (m *metricData) GetMetricData(
	_ context.Context, in *cloudwatch.GetMetricDataInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.GetMetricDataOutput, error) {
	m.asked = append(m.asked, in)
	page, next := types.MetricDataResult{Id: aws.String("c0")}, (*string)(nil)
	if in.NextToken == nil {
		page.Timestamps, page.Values = []time.Time{now.Add(time.Minute), now}, []float64{2, 1}
		next = aws.String("more")
	} else {
		page = types.MetricDataResult{Id: aws.String("c1"), Timestamps: []time.Time{now}, Values: []float64{3}}
	}
	return &cloudwatch.GetMetricDataOutput{MetricDataResults: []types.MetricDataResult{page}, NextToken: next}, nil
}

func TestWatched_putsValuesIntoTheirSteps(t *testing.T) {
	m := &metricData{}
	s := Stack{Parameters: map[string]string{"Stage": "prod"}}
	got, err := Watched{Stack: s, Client: m}.Read(t.Context(), minute, []Curve{
		{Metric: "AttemptMillis", Stat: "p99"}, {Metric: "Other", Stat: "Sum"},
	})
	want := [][]float64{{1, 2}, {3, math.NaN()}}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	query := m.asked[0].MetricDataQueries[0].MetricStat
	if len(m.asked) != 2 || *query.Metric.Namespace != "Herald/prod" || *query.Stat != "p99" || *query.Period != 60 {
		t.Errorf("asked %d times, of %s for %s", len(m.asked), *query.Metric.Namespace, *query.Stat)
	}
}
