package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
)

// Curve names a statistic of one of deliver's metrics.
type Curve struct{ Metric, Stat string }

// Window is a span of time in equal steps.
type Window struct {
	From  time.Time
	Step  time.Duration
	Steps int
}

// namespace is for the stage's metrics.
func namespace(stage string) string { return "Herald/" + stage }

// Watched is a stack's metrics in CloudWatch.
type Watched struct {
	Stack
	Client  cloudwatch.GetMetricDataAPIClient
	History cloudwatch.DescribeAlarmHistoryAPIClient
}

// Read returns the curves' values, a value for every step, NaN where nothing was measured.
func (w Watched) Read(ctx context.Context, in Window, curves []Curve) ([][]float64, error) {
	ask := &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(in.From), EndTime: aws.Time(in.From.Add(time.Duration(in.Steps) * in.Step)),
	}
	for n, c := range curves {
		ask.MetricDataQueries = append(ask.MetricDataQueries, types.MetricDataQuery{
			Id: aws.String("c" + strconv.Itoa(n)),
			MetricStat: &types.MetricStat{
				Stat: aws.String(c.Stat), Period: aws.Int32(int32(in.Step / time.Second)), //nolint:gosec // hours at most
				Metric: &types.Metric{
					Namespace: aws.String(namespace(w.Stage())), MetricName: aws.String(c.Metric),
					Dimensions: []types.Dimension{{Name: aws.String("service"), Value: aws.String("deliver")}},
				},
			},
		})
	}
	all := gaps(in, len(curves))
	for pages := cloudwatch.NewGetMetricDataPaginator(w.Client, ask); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, w.Explain("reading metrics (cloudwatch:GetMetricData)", err)
		}
		for _, result := range page.MetricDataResults {
			id, err := strconv.Atoi(aws.ToString(result.Id)[1:])
			if err != nil || id >= len(all) {
				return nil, fmt.Errorf("CloudWatch answered about %q", aws.ToString(result.Id))
			}
			for n, at := range result.Timestamps {
				if step := int(at.Sub(in.From) / in.Step); step >= 0 && step < in.Steps {
					all[id][step] = result.Values[n]
				}
			}
		}
	}
	return all, nil
}

// gaps are curves without a value.
func gaps(in Window, curves int) [][]float64 {
	all := make([][]float64, curves)
	for n := range all {
		all[n] = slices.Repeat([]float64{math.NaN()}, in.Steps)
	}
	return all
}

// Logged has the metrics of the local stack. They stand in the log of deliver, since the emulator's CloudWatch gets
// none.
type Logged struct{ Path string }

// Read returns the curves' values, as [Watched] does.
func (l Logged) Read(_ context.Context, in Window, curves []Curve) ([][]float64, error) {
	all, data := gaps(in, len(curves)), &alarms.Data{}
	log, err := os.ReadFile(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil // nothing was attempted
	}
	if err == nil {
		err = data.ReadEMF(bytes.NewReader(log))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	for n, c := range curves {
		metric := alarms.NewMetric(namespace("local"), c.Metric, map[string]string{"service": "deliver"})
		for step := range in.Steps {
			from := in.From.Add(time.Duration(step) * in.Step)
			value, ok, err := data.Statistic(metric, c.Stat, from, from.Add(in.Step))
			if err != nil {
				return nil, fmt.Errorf("reading the log: %w", err)
			}
			if ok {
				all[n][step] = value
			}
		}
	}
	return all, nil
}
