package stack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// SharesQuery is the saved query "tenants' shares" of the template.
const SharesQuery = `filter message = "attempt" and ispresent(tenant_id)
	| stats count() as attempts, sum(ms) as total by tenant_id | sort attempts desc`

// attemptsQuery is for one delivery.
const attemptsQuery = `fields @timestamp as timestamp, attempt, outcome, status, ms, reason, next_attempt_s
	| filter message = "attempt" and delivery_id = "%s" | sort @timestamp | limit 100`

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
func (i Insights) Attempts(ctx context.Context, id string, from, until time.Time) ([]answers.Row, error) {
	if !deliveryForm.MatchString(id) {
		return nil, exit.With(exit.Usage, "this is no id of a delivery")
	}
	return i.query(ctx, attemptsOf(id), from, until)
}

func attemptsOf(id string) string {
	return string(bytes.Replace([]byte(attemptsQuery), []byte("%s"), []byte(id), 1))
}

// Shares are the tenants' attempts in that time, with their milliseconds, the most first.
func (i Insights) Shares(ctx context.Context, from, until time.Time) ([]answers.Row, error) {
	return i.query(ctx, SharesQuery, from, until)
}

// The most that a query takes, and the time between two looks at it.
const (
	queryPatience = 20 * time.Second
	queryInterval = 500 * time.Millisecond
)

func (i Insights) query(ctx context.Context, text string, from, until time.Time) ([]answers.Row, error) {
	const doing = "querying the log (logs:StartQuery, logs:GetQueryResults)"
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	started, err := i.Client.StartQuery(ctx, &cloudwatchlogs.StartQueryInput{
		LogGroupName: aws.String("/aws/lambda/" + i.Name + "-deliver"), QueryString: &text,
		StartTime: aws.Int64(from.Unix()), EndTime: aws.Int64(until.Unix()),
	})
	if err != nil {
		return nil, i.Explain(doing, err)
	}
	for {
		got, err := i.Client.GetQueryResults(ctx, &cloudwatchlogs.GetQueryResultsInput{QueryId: started.QueryId})
		if err != nil {
			return nil, i.Explain(doing, err)
		}
		switch got.Status {
		case types.QueryStatusComplete:
			return rowsOf(got.Results), nil
		case types.QueryStatusRunning, types.QueryStatusScheduled, types.QueryStatusUnknown:
		default:
			return nil, exit.With(exit.Failed, "%s: it is %s", doing, got.Status)
		}
		if !client.Pause(ctx, queryInterval) {
			return nil, exit.With(exit.Failed, "%s: no answer in %s", doing, queryPatience)
		}
	}
}

// rowsOf are the results with numbers as numbers, and times as everywhere.
func rowsOf(results [][]types.ResultField) []answers.Row {
	rows := make([]answers.Row, len(results))
	for n, fields := range results {
		rows[n] = answers.Row{}
		for _, f := range fields {
			name, text := aws.ToString(f.Field), aws.ToString(f.Value)
			rows[n][name] = text
			if number, err := strconv.ParseFloat(text, 64); err == nil {
				rows[n][name] = number
			}
			if at, err := time.Parse("2006-01-02 15:04:05.000", text); err == nil {
				rows[n][name] = at.UTC().Format(time.RFC3339Nano)
			}
		}
	}
	return rows
}

// LoggedLines is the log of the local stack, which is a file.
type LoggedLines struct{ Path string }

// Attempts are a delivery's attempts in that time, as [Insights] has them.
func (l LoggedLines) Attempts(_ context.Context, id string, from, until time.Time) (rows []answers.Row, err error) {
	err = l.each(from, until, func(line answers.Row) {
		if line["delivery_id"] == id {
			rows = append(rows, line)
		}
	})
	return rows, err
}

// Shares are the tenants' attempts in that time, as [Insights] has them.
func (l LoggedLines) Shares(_ context.Context, from, until time.Time) (rows []answers.Row, err error) {
	known := map[string]answers.Row{}
	err = l.each(from, until, func(line answers.Row) {
		id := answers.Text(line, "tenant_id")
		if known[id] == nil {
			known[id] = answers.Row{"tenant_id": id}
			rows = append(rows, known[id])
		}
		known[id]["attempts"] = answers.Number(known[id], "attempts") + 1
		known[id]["total"] = answers.Number(known[id], "total") + answers.Number(line, "ms")
	})
	slices.SortStableFunc(rows, func(a, b answers.Row) int {
		return int(answers.Number(b, "attempts") - answers.Number(a, "attempts"))
	})
	return rows, err
}

// each reads the attempts in the file. A line that is being written is left out.
func (l LoggedLines) each(from, until time.Time, use func(answers.Row)) error {
	text, err := os.ReadFile(l.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.With(exit.Failed, "no log of the local stack: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line answers.Row
		if !bytes.Contains(lines.Bytes(), []byte(`"message":"attempt"`)) || json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		at, err := time.Parse(time.RFC3339, answers.Text(line, "timestamp"))
		if err == nil && !at.Before(from) && at.Before(until) && line["tenant_id"] != nil {
			use(line)
		}
	}
	return nil
}
