package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json"
)

// Logs are the functions' logs, each named by its folder.
type Logs interface {
	// Each calls f with every line since a moment, as far as it can be read by now.
	Each(ctx context.Context, function string, since time.Time, f func(text []byte)) error
}

// CloudWatchLogs are a stack's on AWS.
type CloudWatchLogs struct {
	Client *cloudwatchlogs.Client
	Stack  string
}

// maxLogPages bounds the reading of one function's log, at a megabyte a page.
const maxLogPages = 100

// Each reads the function's log group, of a busy stack its first lines.
func (l CloudWatchLogs) Each(ctx context.Context, function string, since time.Time, f func([]byte)) error {
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(l.Client, &cloudwatchlogs.FilterLogEventsInput{
		LogGroupName: aws.String("/aws/lambda/" + l.Stack + "-" + function), StartTime: aws.Int64(since.UnixMilli()),
	})
	for n := 0; pages.HasMorePages() && n < maxLogPages; n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return noRight("reading the log of "+function, "logs:FilterLogEvents", err)
		}
		for _, event := range page.Events {
			f([]byte(aws.ToString(event.Message)))
		}
	}
	return nil
}

// LocalLogs is the folder of the local stack's logs.
type LocalLogs string

// Each reads the function's file. A function that never ran has none.
func (l LocalLogs) Each(_ context.Context, function string, _ time.Time, f func([]byte)) error {
	text, err := os.ReadFile(filepath.Join(string(l), function+".log")) //nolint:gosec // the caller's own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the log of %s: %w", function, err)
	}
	for line := range bytes.Lines(text) {
		f(line)
	}
	return nil
}

// written has a log line's facts about the run: of batches, of service levels, of cold starts.
type written struct {
	Timestamp time.Time `json:"timestamp"` // of a line by the function
	Message   string    `json:"message"`
	Records   int       `json:"records"`

	EMF struct {
		Timestamp int64
	} `json:"_aws"`
	First        []float64 `json:"FirstAttemptSeconds"`
	Acknowledged []float64 `json:"AcknowledgedSeconds"`

	Time   time.Time `json:"time"` // of a line by Lambda
	Type   string    `json:"type"`
	Record struct {
		Metrics struct {
			InitDurationMs float64 `json:"initDurationMs"`
		} `json:"metrics"`
	} `json:"record"`
}

// at is when the line was written.
func (w written) at() time.Time {
	switch {
	case w.EMF.Timestamp > 0:
		return time.UnixMilli(w.EMF.Timestamp)
	case w.Timestamp.IsZero():
		return w.Time
	}
	return w.Timestamp
}

// log sums up the functions' lines about a run.
type log struct {
	batches             map[string][]int // sizes, by function
	first, acknowledged []float64        // seconds
	runs                map[string]int   // by function, where Lambda reports them
	inits               map[string][]float64
}

// readLog reads the logs of functions since a moment.
func readLog(ctx context.Context, logs Logs, functions []string, since time.Time) (log, error) {
	l := log{batches: map[string][]int{}, runs: map[string]int{}, inits: map[string][]float64{}}
	for _, function := range functions {
		err := logs.Each(ctx, function, since, func(text []byte) {
			var w written
			if json.Unmarshal(text, &w) == nil && !w.at().Before(since) { // other lines are not about this
				l.add(function, w)
			}
		})
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *log) add(function string, w written) {
	if w.Message == "batch" {
		l.batches[function] = append(l.batches[function], w.Records)
	}
	l.first, l.acknowledged = append(l.first, w.First...), append(l.acknowledged, w.Acknowledged...)
	if w.Type == "platform.report" {
		l.runs[function]++
		if ms := w.Record.Metrics.InitDurationMs; ms > 0 {
			l.inits[function] = append(l.inits[function], ms)
		}
	}
}
