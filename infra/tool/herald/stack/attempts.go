package stack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// The state file and the logs of the local stack, below the folder that it runs from. LocalLog is deliver's.
const (
	LocalState = ".local/stack.json"
	LocalLogs  = ".local/logs"
	LocalLog   = LocalLogs + "/deliver.log"
)

// TailLocal reads lines that are added to the log of the local stack.
func TailLocal(ctx context.Context, each func(string)) error {
	f, err := os.Open(LocalLog)
	if err != nil {
		return exit.With(exit.Failed, "no log of the local stack: %v", err)
	}
	defer f.Close()
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	lines, part := bufio.NewReader(f), ""
	for {
		text, err := lines.ReadString('\n')
		part += text
		if err == nil {
			each(strings.TrimSuffix(part, "\n"))
			part = ""
			continue
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the log: %w", err)
		}
		if !client.Pause(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// Tail follows the log group of deliver. CloudWatch Logs ends a session after three hours.
func (s Stack) Tail(ctx context.Context, each func(string)) error {
	caller, err := arn.Parse(s.Operator)
	if err != nil {
		return fmt.Errorf("reading your ARN: %w", err)
	}
	group := arn.ARN{
		Partition: caller.Partition, Service: "logs", Region: s.AWS.Region, AccountID: caller.AccountID,
		Resource: "log-group:/aws/lambda/" + s.Name + "-deliver",
	}
	out, err := cloudwatchlogs.NewFromConfig(s.AWS).StartLiveTail(ctx, &cloudwatchlogs.StartLiveTailInput{
		LogGroupIdentifiers: []string{group.String()},
	})
	if err != nil {
		return s.Explain("following the log (logs:StartLiveTail)", err)
	}
	stream := out.GetStream()
	defer stream.Close() //nolint:errcheck // nothing was written
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-stream.Events():
			if !open {
				ended := errors.Join(errors.New("the session has ended: start it again"), stream.Err())
				return s.Explain("following the log", ended)
			}
			update, ok := event.(*types.StartLiveTailResponseStreamMemberSessionUpdate)
			if !ok {
				continue
			}
			for _, line := range update.Value.SessionResults {
				each(aws.ToString(line.Message))
			}
		}
	}
}
