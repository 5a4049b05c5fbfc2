package main

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
	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// localLog is the log of deliver on the local stack.
const localLog = localLogs + "/deliver.log"

// tail refuses an endpoint's other names: attempts are logged with its id.
func (a *app) tail(ctx context.Context, c *cli.Command) error {
	wanted, err := a.fields(c)
	if id := cellOf(wanted, "endpoint_id"); err == nil && id != "" && !strings.HasPrefix(id, endpoint.IDPrefix) {
		err = fail(exitUsage, "%q is no id of an endpoint; see %s --help", id, c.FullName())
	}
	if err != nil {
		return err
	}
	return a.on(a.follow)(ctx, c)
}

// follow prints attempts until the context ends, or nobody takes them.
func (a *app) follow(ctx context.Context, c *cli.Command, s stack, wanted fields) error {
	a.say("attempts of %s, until Ctrl-C; successes at the first attempt are a sample (SuccessLogSample)", s.name)
	tail := s.liveTail
	if c.Bool("local") {
		tail = tailLocal
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := tail(ctx, func(line string) {
		if a.attempt(c, wanted, line); a.broken != nil {
			stop()
		}
	})
	if errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// attempt prints a line of the log if it is an attempt with the wanted fields.
func (a *app) attempt(c *cli.Command, wanted fields, line string) {
	var r row
	err := json.Unmarshal([]byte(line), &r)
	isAttempt := err == nil && r["outcome"] != nil && r["endpoint_id"] != nil // no platform line, no batch's sum
	if !isAttempt {
		return
	}
	for field, want := range wanted {
		if r[field] != want {
			return
		}
	}
	if isJSON(c) {
		a.print(escaped(line))
		return
	}
	at, _ := r["time"].(string)
	cells := []string{at}
	for _, field := range []string{
		"tenant_id", "endpoint_id", "delivery_id", "attempt", "outcome", "status", "reason", "ms",
	} {
		cells = append(cells, a.cell(r, field))
	}
	a.print(strings.Join(cells, "  "))
}

// tailLocal reads lines that are added to the log of the local stack.
func tailLocal(ctx context.Context, each func(string)) error {
	f, err := os.Open(localLog)
	if err != nil {
		return fail(exitFailed, "no log of the local stack: %v", err)
	}
	defer f.Close()
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	lines, part := bufio.NewReader(f), ""
	for {
		text, err := lines.ReadString('\n')
		if part += text; err == nil {
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

// liveTail follows the log group of deliver. CloudWatch Logs ends a session after three hours.
func (s stack) liveTail(ctx context.Context, each func(string)) error {
	caller, err := arn.Parse(s.operator)
	if err != nil {
		return fmt.Errorf("reading your ARN: %w", err)
	}
	group := arn.ARN{
		Partition: caller.Partition, Service: "logs", Region: s.aws.Region, AccountID: caller.AccountID,
		Resource: "log-group:/aws/lambda/" + s.name + "-deliver",
	}
	out, err := cloudwatchlogs.NewFromConfig(s.aws).StartLiveTail(ctx, &cloudwatchlogs.StartLiveTailInput{
		LogGroupIdentifiers: []string{group.String()},
	})
	if err != nil {
		return s.explain("following the log (logs:StartLiveTail)", err)
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
				return s.explain("following the log", ended)
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
