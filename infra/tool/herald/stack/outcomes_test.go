package stack

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	metrics "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/names"
)

var lastHour = Window{From: now.Add(-time.Hour), Step: time.Minute, Steps: 60}

// Of the same traffic, a log with a sample of one percent tells the same attempts as a log of everything.
func TestOutcomes_areTheSameWithAnySample(t *testing.T) {
	const events = 5_000
	for _, sample := range []float64{100, 50, 1} {
		log := traffic(t, sample, events)
		succeeded, err := log.Outcomes(t.Context(), Tailed{TenantID: "acme"}, lastHour)
		if n := succeeded.Total(delivery.VerdictAcknowledged); err != nil || math.Abs(n/events-1) > .2 {
			t.Errorf("with a sample of %v, %v of %d succeeded: %v", sample, n, events, err)
		}
		failed, err := log.Outcomes(t.Context(), Tailed{EndpointID: "webhook_globex"}, lastHour)
		want := map[delivery.Verdict][]float64{delivery.VerdictRetry: make([]float64, 60)}
		want[delivery.VerdictRetry][59] = events
		if diff := cmp.Diff(want, failed.Counts); err != nil || diff != "" {
			t.Errorf("with a sample of %v (-want +got):\n%s%v", sample, diff, err)
		}
		if said := failed.Meaning(); strings.HasPrefix(said, "Estimates") != (sample < 100) {
			t.Errorf("with a sample of %v: %s", sample, said)
		}
	}
	none, err := traffic(t, 0, 10).Outcomes(t.Context(), Tailed{TenantID: "acme"}, lastHour)
	if err != nil || len(none.Counts) > 0 || !strings.HasPrefix(none.Meaning(), "Failures alone") {
		t.Errorf("without a sample: %+v, %v", none, err)
	}
}

// counting answers a query of outcomes.
type counting struct {
	asked []*cloudwatchlogs.StartQueryInput
}

func (c *counting) StartQuery(
	_ context.Context, in *cloudwatchlogs.StartQueryInput, _ ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.StartQueryOutput, error) {
	c.asked = append(c.asked, in)
	return &cloudwatchlogs.StartQueryOutput{QueryId: aws.String("q")}, nil
}

func (*counting) GetQueryResults(
	context.Context, *cloudwatchlogs.GetQueryResultsInput, ...func(*cloudwatchlogs.Options),
) (*cloudwatchlogs.GetQueryResultsOutput, error) {
	row := func(at, outcome, attempt, count string) (fields []types.ResultField) {
		for _, f := range [][2]string{
			{"bin(15m)", at}, {"outcome", outcome}, {"attempt", attempt}, {"attempts", count},
		} {
			fields = append(fields, types.ResultField{Field: &f[0], Value: &f[1]})
		}
		return fields
	}
	return &cloudwatchlogs.GetQueryResultsOutput{
		Status: types.QueryStatusComplete, Statistics: &types.QueryStatistics{BytesScanned: 5e9},
		Results: [][]types.ResultField{
			row("2026-05-02 08:30:00.000", "acknowledged", "1", "3"), row("2026-05-02 08:30:00.000", "acknowledged", "2", "5"),
			row("2026-05-02 08:45:00.000", "retry", "1", "7"), row("2026-05-02 08:45:00.000", "retry", "2", "1"),
			row("2026-05-02 07:00:00.000", "dead", "10", "1"), // before
		},
	}, nil
}

func TestInsights_Outcomes_areOneQueryOfIdsAlone(t *testing.T) {
	logs := &counting{}
	i := Insights{Stack{Name: "herald-prod", Parameters: map[string]string{"SuccessLogSample": "2"}}, logs}
	window := Window{From: now.Add(-30 * time.Minute), Step: 15 * time.Minute, Steps: 2}
	got, err := i.Outcomes(t.Context(), Tailed{"auth0|42", "webhook_1"}, window)
	want := Outcomes{Window: window, Sample: 2, Read: 5e9, Counts: map[delivery.Verdict][]float64{
		delivery.VerdictAcknowledged: {155, 0}, delivery.VerdictRetry: {0, 8},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	const query = `filter message = "attempt" and tenant_id = "auth0|42" and endpoint_id = "webhook_1" | ` +
		`stats count() as attempts by bin(15m), outcome, attempt, replay | limit 10000`
	if asked := logs.asked[0]; *asked.QueryString != query || *asked.EndTime-*asked.StartTime != 1800 {
		t.Errorf("asked %s", *asked.QueryString)
	}
	for _, text := range names.Refused()[1:] {
		for _, of := range []Tailed{{TenantID: text}, {EndpointID: text}} {
			if _, err := i.Outcomes(t.Context(), of, window); err == nil || len(logs.asked) != 1 {
				t.Errorf("%q: %v, asked %d times", text, err, len(logs.asked))
			}
		}
	}
	for _, long := range []Window{{From: now, Step: time.Hour, Steps: 25}, {From: now, Step: time.Second, Steps: 60}} {
		if _, err := i.Outcomes(t.Context(), Tailed{}, long); err == nil || len(logs.asked) != 1 {
			t.Errorf("%s in steps of %s: %v", long.End().Sub(long.From), long.Step, err)
		}
	}
}

// written is the metric of a log group.
type written struct {
	asked *cloudwatch.GetMetricDataInput
}

func (m *written) GetMetricData(
	_ context.Context, in *cloudwatch.GetMetricDataInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.GetMetricDataOutput, error) {
	m.asked = in
	return &cloudwatch.GetMetricDataOutput{MetricDataResults: []metrics.MetricDataResult{
		{Id: aws.String("bytes"), Timestamps: []time.Time{now, now}, Values: []float64{1e6, 2e6}},
	}}, nil
}

func TestLogBytes_areThoseThatTheQueryReads(t *testing.T) {
	m := &written{}
	got, err := Watched{Stack: Stack{Name: "herald-prod"}, Client: m}.LogBytes(t.Context(), lastHour)
	of := m.asked.MetricDataQueries[0].MetricStat
	if err != nil || got != 3e6 || *of.Metric.Dimensions[0].Value != "/aws/lambda/herald-prod-deliver" ||
		!m.asked.StartTime.Equal(lastHour.From) || !m.asked.EndTime.Equal(now) {
		t.Errorf("%v, %v of %s", got, err, *of.Metric.Dimensions[0].Value)
	}
	log := traffic(t, 100, 1)
	if local, err := (Logged{log.Path}).LogBytes(t.Context(), lastHour); err != nil || local == 0 {
		t.Errorf("%v, %v of the local log", local, err)
	}
	if none, err := (Logged{log.Path + "x"}).LogBytes(t.Context(), lastHour); err != nil || none != 0 {
		t.Errorf("%v, %v without a log", none, err)
	}
}
