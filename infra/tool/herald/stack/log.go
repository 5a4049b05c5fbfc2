package stack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
)

// attemptsQuery is for the delivery with the id.
func attemptsQuery(id string) string {
	fields := []string{
		"@timestamp as " + keyTime, telemetry.KeyAttempt, telemetry.KeyOutcome, telemetry.KeyStatus, telemetry.KeyMillis,
		telemetry.KeyReason, telemetry.KeyNext,
	}
	return "fields " + strings.Join(fields, ", ") + ` | filter message = "attempt" and ` + telemetry.KeyDelivery +
		` = "` + id + `" | sort @timestamp | limit 100`
}

// deliveryForm is that of a delivery's id. Nothing else gets into a query.
var deliveryForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,160}$`)

// Insights reads a stack's log by CloudWatch Logs Insights, which costs by the bytes of the time that is searched.
type Insights struct {
	Stack
	Client InsightsClient
}

// InsightsClient is the part of CloudWatch Logs that runs queries.
type InsightsClient interface {
	StartQuery(context.Context, *cloudwatchlogs.StartQueryInput, ...func(*cloudwatchlogs.Options)) (
		*cloudwatchlogs.StartQueryOutput, error)
	GetQueryResults(context.Context, *cloudwatchlogs.GetQueryResultsInput, ...func(*cloudwatchlogs.Options)) (
		*cloudwatchlogs.GetQueryResultsOutput, error)
}

// Attempts are a delivery's attempts in that time, the oldest first. The log has a sample of successes at once.
func (i Insights) Attempts(ctx context.Context, id string, from, until time.Time) (all []Attempt, err error) {
	if !deliveryForm.MatchString(id) {
		return nil, exit.With(exit.Usage, "this is not the id of a delivery")
	}
	lines, err := i.query(ctx, attemptsQuery(id), from, until)
	for _, l := range lines {
		all = append(all, l.attempt())
	}
	return all, err
}

// The most that a query takes, that of a day's outcomes takes, and the time between two looks at it.
const (
	queryPatience    = 20 * time.Second
	outcomesPatience = time.Minute
	queryInterval    = 500 * time.Millisecond
)

func (i Insights) query(ctx context.Context, text string, from, until time.Time) ([]line, error) {
	got, err := i.run(ctx, text, from, until, queryPatience)
	return got.lines, err
}

// results are those of a query, and how many bytes of the log it has read.
type results struct {
	lines []line
	read  float64
}

// run runs a query until it has its results.
func (i Insights) run(
	ctx context.Context, text string, from, until time.Time, patience time.Duration,
) (results, error) {
	const doing = "querying the log (logs:StartQuery, logs:GetQueryResults)"
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	started, err := i.Client.StartQuery(ctx, &cloudwatchlogs.StartQueryInput{
		LogGroupName: aws.String("/aws/lambda/" + i.Name + "-deliver"), QueryString: &text,
		StartTime: aws.Int64(from.Unix()), EndTime: aws.Int64(until.Unix()),
	})
	if err != nil {
		return results{}, i.Explain(doing, err)
	}
	for {
		got, err := i.Client.GetQueryResults(ctx, &cloudwatchlogs.GetQueryResultsInput{QueryId: started.QueryId})
		if err != nil {
			return results{}, i.Explain(doing, err)
		}
		switch got.Status {
		case types.QueryStatusComplete:
			return results{linesOf(got.Results), scanned(got.Statistics)}, nil
		case types.QueryStatusRunning, types.QueryStatusScheduled, types.QueryStatusUnknown:
		default:
			return results{}, exit.With(exit.Failed, "%s: it is %s", doing, got.Status)
		}
		if !client.Pause(ctx, queryInterval) {
			return results{}, exit.With(exit.Failed, "%s: no answer in %s", doing, patience)
		}
	}
}

// scanned is how many bytes a query has read.
func scanned(s *types.QueryStatistics) float64 {
	if s == nil {
		return 0
	}
	return s.BytesScanned
}

// linesOf are the results as lines of the log.
func linesOf(results [][]types.ResultField) []line {
	lines := make([]line, len(results))
	for n, fields := range results {
		lines[n] = line{}
		for _, f := range fields {
			lines[n][aws.ToString(f.Field)] = aws.ToString(f.Value)
		}
	}
	return lines
}

// LoggedLines is the log of the local stack, which is a file.
type LoggedLines struct {
	Path   string
	Sample float64 // as of [Stack.Sample]
}

// Attempts are a delivery's attempts in that time, as [Insights] has them.
func (l LoggedLines) Attempts(_ context.Context, id string, from, until time.Time) (all []Attempt, err error) {
	err = l.each(from, until, func(a Attempt) {
		if a.DeliveryID == id {
			all = append(all, a)
		}
	})
	return all, err
}

// each reads the attempts in the file. A line that is being written is left out.
func (l LoggedLines) each(from, until time.Time, use func(Attempt)) error {
	text, err := os.ReadFile(l.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.With(exit.Failed, "no log of the local stack: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		read, err := readLine(lines.Bytes())
		if err != nil || read[keyMessage] != "attempt" || read[telemetry.KeyTenant] == "" {
			continue
		}
		if a := read.attempt(); !a.At.IsZero() && !a.At.Before(from) && a.At.Before(until) {
			use(a)
		}
	}
	return nil
}
