package stack

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// The state file and the logs of the local stack, below the folder that it runs from. LocalLog is deliver's.
const (
	LocalState = ".local/stack.json"
	LocalLogs  = ".local/logs"
	LocalLog   = LocalLogs + "/deliver.log"
)

// Tailed are the attempts that somebody follows: those to an endpoint, or of a tenant, or all.
type Tailed struct{ TenantID, EndpointID string }

// endpointForm is that of an endpoint's id. Like a tenant's id, it has no character that ends a text in a pattern or a
// query, or that means any text there.
var endpointForm = regexp.MustCompile(`^` + endpoint.IDPrefix + `[A-Za-z0-9]{1,64}$`)

// Check refuses what is no id in the log, in the words of a function. Nothing else gets into a pattern or a query.
func (t Tailed) Check() error {
	switch {
	case t.TenantID != "" && !event.ValidTenantID(t.TenantID):
		return &api.Refusal{Code: api.CodeInvalidField, Field: "tenant_id", Message: event.TenantIDRule}
	case t.EndpointID != "" && !endpointForm.MatchString(t.EndpointID):
		return &api.Refusal{Code: api.CodeInvalidField, Field: "endpoint_id", Message: "must be the id of an endpoint"}
	}
	return nil
}

// conditions are those on the ids of a line of the log, each made by a format of a key and a value.
func (t Tailed) conditions(format string) (all []string) {
	for _, of := range [][2]string{{telemetry.KeyTenant, t.TenantID}, {telemetry.KeyEndpoint, t.EndpointID}} {
		if of[1] != "" {
			all = append(all, fmt.Sprintf(format, of[0], of[1]))
		}
	}
	return all
}

// pattern has CloudWatch Logs leave out the lines of others, and those about no delivery.
func (t Tailed) pattern() string {
	of := append([]string{`($.` + telemetry.KeyOutcome + ` = "*")`}, t.conditions(`($.%s = "%s")`)...)
	return "{ " + strings.Join(of, " && ") + " }"
}

// takes reports whether an attempt is followed.
func (t Tailed) takes(a Attempt) bool {
	return cmp.Or(t.TenantID, a.TenantID) == a.TenantID && cmp.Or(t.EndpointID, a.EndpointID) == a.EndpointID
}

// Lines are lines of a log that came together. Sampled says that there were more than AWS shows, 500 in a second.
type Lines struct {
	Texts   []string
	Sampled bool
}

// TailLocal reads lines that are added to the log of the local stack.
func TailLocal(ctx context.Context, of Tailed, each func(Lines)) error {
	if err := of.Check(); err != nil {
		return err
	}
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
			if a, is := ReadAttempt(part); is && of.takes(a) {
				each(Lines{Texts: []string{strings.TrimSuffix(part, "\n")}})
			}
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

// TailPrice is AWS's price of a minute that is followed, in dollars, in us-east-1 as of November 2026.
const TailPrice = 0.01

// Tail follows the log group of deliver, which AWS bills by the minute. CloudWatch Logs ends a session after three
// hours.
func (s Stack) Tail(ctx context.Context, of Tailed, each func(Lines)) error {
	if err := of.Check(); err != nil {
		return err
	}
	caller, err := arn.Parse(s.Operator)
	if err != nil {
		return fmt.Errorf("reading your ARN: %w", err)
	}
	group := arn.ARN{
		Partition: caller.Partition, Service: "logs", Region: s.AWS.Region, AccountID: caller.AccountID,
		Resource: "log-group:/aws/lambda/" + s.Name + "-deliver",
	}
	out, err := cloudwatchlogs.NewFromConfig(s.AWS).StartLiveTail(ctx, &cloudwatchlogs.StartLiveTailInput{
		LogGroupIdentifiers: []string{group.String()}, LogEventFilterPattern: aws.String(of.pattern()),
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
			each(linesIn(update.Value))
		}
	}
}

// linesIn are the lines of a second.
func linesIn(update types.LiveTailSessionUpdate) (lines Lines) {
	lines.Sampled = update.SessionMetadata != nil && update.SessionMetadata.Sampled
	for _, line := range update.SessionResults {
		lines.Texts = append(lines.Texts, aws.ToString(line.Message))
	}
	return lines
}
