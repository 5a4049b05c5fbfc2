package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// QueryPrice is AWS's price of a gigabyte that a query reads, in dollars, in us-east-1 as of November 2026.
const QueryPrice = 0.005

// LongestQuery is the most time that a query of outcomes reads.
const LongestQuery = 24 * time.Hour

// Outcomes are the attempts of a span of time by their outcomes.
type Outcomes struct {
	Window Window
	Counts map[delivery.Verdict][]float64 // of each step
	Sample float64                        // the percentage of successes at the first attempt that the log has
	Read   float64                        // bytes of the log
}

// End is the end of a window.
func (w Window) End() time.Time { return w.From.Add(w.Step * time.Duration(w.Steps)) }

// check refuses a window that costs more than an operator expects.
func (w Window) check() error {
	if w.Step < time.Minute || w.Step*time.Duration(w.Steps) > LongestQuery {
		return exit.With(exit.Usage, "a query of outcomes reads %s at most", LongestQuery)
	}
	return nil
}

// newOutcomes are none yet.
func newOutcomes(w Window, sample float64) Outcomes {
	return Outcomes{Window: w, Sample: sample, Counts: map[delivery.Verdict][]float64{}}
}

// add counts attempts that are alike, at some time.
func (o Outcomes) add(a Attempt, attempts float64) {
	step := int(a.At.Sub(o.Window.From) / o.Window.Step)
	if weight := a.weight(o.Sample); !a.At.Before(o.Window.From) && step < o.Window.Steps && weight > 0 {
		if o.Counts[a.Outcome] == nil {
			o.Counts[a.Outcome] = make([]float64, o.Window.Steps)
		}
		o.Counts[a.Outcome][step] += weight * attempts
	}
}

// Meaning says what the numbers are.
func (o Outcomes) Meaning() string { return Shares{Sample: o.Sample}.Meaning() }

// Total is the number of attempts with an outcome.
func (o Outcomes) Total(of delivery.Verdict) (n float64) {
	for _, count := range o.Counts[of] {
		n += count
	}
	return n
}

// Outcomes are the attempts of a tenant or an endpoint in a window, by one query. It reads all of the window's log.
func (i Insights) Outcomes(ctx context.Context, of Tailed, w Window) (Outcomes, error) {
	o := newOutcomes(w, i.Sample())
	if err := of.Check(); err != nil {
		return o, err
	}
	if err := w.check(); err != nil {
		return o, err
	}
	bin := fmt.Sprintf("bin(%dm)", int(w.Step/time.Minute))
	text := strings.Join(append([]string{`filter message = "attempt"`}, of.conditions(`%s = "%s"`)...), " and ") +
		" | stats count() as " + sumAttempts + " by " + bin + ", outcome, attempt, replay | limit 10000"
	got, err := i.run(ctx, text, w.From, w.End(), outcomesPatience)
	for _, l := range got.lines {
		a := l.attempt()
		a.At = line{keyTime: l[bin]}.at()
		o.add(a, l.number(sumAttempts))
	}
	o.Read = got.read
	return o, err
}

// Outcomes are those of the local stack, as [Insights] has them.
func (l LoggedLines) Outcomes(_ context.Context, of Tailed, w Window) (Outcomes, error) {
	o := newOutcomes(w, l.Sample)
	if err := of.Check(); err != nil {
		return o, err
	}
	if err := w.check(); err != nil {
		return o, err
	}
	return o, l.each(w.From, w.End(), func(a Attempt) {
		if of.takes(a) {
			o.add(a, 1)
		}
	})
}

// LogBytes is about how many bytes of deliver's log a query of a window reads.
func (w Watched) LogBytes(ctx context.Context, in Window) (bytes float64, err error) {
	ask := &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(in.From), EndTime: aws.Time(in.End()),
		MetricDataQueries: []types.MetricDataQuery{{Id: aws.String("bytes"), MetricStat: &types.MetricStat{
			Stat: aws.String("Sum"), Period: aws.Int32(int32(in.Step / time.Second)), //nolint:gosec // minutes
			Metric: &types.Metric{
				Namespace: aws.String("AWS/Logs"), MetricName: aws.String("IncomingBytes"),
				Dimensions: []types.Dimension{
					{Name: aws.String("LogGroupName"), Value: aws.String("/aws/lambda/" + w.Name + "-deliver")},
				},
			},
		}}},
	}
	for pages := cloudwatch.NewGetMetricDataPaginator(w.Client, ask); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, w.Explain("reading metrics (cloudwatch:GetMetricData)", err)
		}
		for _, result := range page.MetricDataResults {
			for _, value := range result.Values {
				bytes += value
			}
		}
	}
	return bytes, nil
}

// LogBytes is the size of the local stack's log, which costs nothing to read.
func (l Logged) LogBytes(context.Context, Window) (float64, error) {
	info, err := os.Stat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing was attempted
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading the log: %w", err)
	}
	return float64(info.Size()), nil
}
