package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/go-json-experiment/json"
)

// CloudWatchLogs are a stack's on AWS.
type CloudWatchLogs struct {
	Client *cloudwatchlogs.Client
	Stack  string
}

// maxLogPages bounds the reading of one function's log, at a megabyte a page.
const maxLogPages = 100

// Each reads the function's log group. It reads only the first lines of a busy stack.
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
	file, err := os.ReadFile(filepath.Join(string(l), function+".log")) //nolint:gosec // the caller's own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the log of %s: %w", function, err)
	}
	for text := range bytes.Lines(file) {
		f(text)
	}
	return nil
}

// line has the facts of a log line about a run: the size of a batch, or Lambda's report of an invocation.
type line struct {
	Timestamp time.Time `json:"timestamp"` // of a batch
	Message   string    `json:"message"`
	Records   int       `json:"records"`

	Type   string `json:"type"` // of Lambda's own lines
	Record struct {
		Metrics struct {
			InitDurationMs float64 `json:"initDurationMs"`
		} `json:"metrics"`
	} `json:"record"`
}

// log sums up a function's lines about a run.
type log struct {
	batches []int     // sizes
	runs    int       // where Lambda reports them
	inits   []float64 // in milliseconds
}

// log reads a function's log since the run began.
func (r *run) log(ctx context.Context, function string) (l log, err error) {
	err = r.Logs.Each(ctx, function, r.began, func(text []byte) {
		var about line
		if json.Unmarshal(text, &about) != nil {
			return
		}
		if about.Message == "batch" && !about.Timestamp.Before(r.began) {
			l.batches = append(l.batches, about.Records)
		}
		if about.Type == "platform.report" {
			l.runs++
			if ms := about.Record.Metrics.InitDurationMs; ms > 0 {
				l.inits = append(l.inits, ms)
			}
		}
	})
	return l, err
}

var (
	batching = []string{"fanout", "deliver"}
	others   = []string{"webhooks", "deadletter", "release", "inspect", "replay", "control", "apikeys"}
)

func batchFill(ctx context.Context, r *run) (string, error) {
	var said []string
	for _, function := range batching {
		l, err := r.log(ctx, function)
		if err != nil {
			return "", err
		}
		if len(l.batches) == 0 {
			return "", notShown("the log of " + function + " has no batch: CloudWatch shows lines late")
		}
		total := 0
		for _, size := range l.batches {
			total += size
		}
		said = append(said, fmt.Sprintf("%s %.1f, at most %d", function,
			float64(total)/float64(len(l.batches)), slices.Max(l.batches)))
	}
	return "messages an invocation: " + strings.Join(said, "; "), nil
}

func coldStarts(ctx context.Context, r *run) (string, error) {
	var said, silent []string
	for _, function := range slices.Concat(batching, others) {
		l, err := r.log(ctx, function)
		if err != nil {
			return "", err
		}
		if l.runs == 0 {
			silent = append(silent, function)
			continue
		}
		text := fmt.Sprintf("%s %d of %d runs", function, len(l.inits), l.runs)
		if len(l.inits) > 0 {
			text += fmt.Sprintf(", %.0f–%.0f ms", slices.Min(l.inits), slices.Max(l.inits))
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return "", notShown("nothing reports a cold start: the local stack's functions are processes, and Lambda's " +
			"REPORT lines of fanout and deliver need LogLevel=DEBUG")
	}
	if len(silent) > 0 {
		said = append(said, "no report of "+strings.Join(silent, ", ")+" (fanout and deliver: LogLevel=DEBUG)")
	}
	return strings.Join(said, "; "), nil
}
