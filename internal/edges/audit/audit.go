// Package audit keeps a line for every change by an operator or a tenant, in a separate log group.
//
// It promises that Write succeeds only after CloudWatch Logs has taken all lines: writing before a change leaves no
// change without its line. So a line records the request, and the function's own log its outcome. Lines hold ids,
// names and times; never a body, a secret, a key or a URL.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Line is about one thing that changes, or one body or URL that an operator opens. Empty fields are left out. A request
// that tries again, because another one was first, leaves a second line only for fields that its first line lacks. The
// line of the action prune is about a deleted endpoint that is removed for good, because its tenant has deleted more
// than 150.
type Line struct {
	Function string `json:"function"`
	Action   string `json:"action"`
	// OperatorClaimed is the name that the request gives its caller. Lambda does not tell a function who invoked it.
	OperatorClaimed string `json:"operator_claimed,omitzero"`
	KeyID           string `json:"key_id,omitzero"`     // the tenant's API key; of apikeys, the one that changes
	RequestID       string `json:"request_id,omitzero"` // of the invocation, as in the function's log

	TenantID   string `json:"tenant_id,omitzero"`
	EndpointID string `json:"endpoint_id,omitzero"`
	DeliveryID string `json:"delivery_id,omitzero"`
	MessageID  string `json:"message_id,omitzero"` // of a rejected event
	JobID      string `json:"job_id,omitzero"`

	Act              string         `json:"act,omitzero"`    // of a job that is started
	Reason           string         `json:"reason,omitzero"` // the operator's
	RateLimit        int            `json:"rate_limit,omitzero"`
	EndpointsPerHost *int           `json:"endpoints_per_host,omitzero"` // that an operator allows a tenant
	DiscardedBefore  time.Time      `json:"discarded_before,omitzero"`   // by an order to discard
	Selector         jsontext.Value `json:"selector,omitempty"`          // of a job
	Changed          []string       `json:"changed,omitzero"`            // fields of an endpoint
	HeadersDropped   []string       `json:"headers_dropped,omitzero"`    // names; the URL went to another origin
	Before           any            `json:"before,omitempty"`            // of an endpoint, its URL as host and digest
	After            any            `json:"after,omitempty"`             // likewise
}

// Writer writes lines before the changes that they are about are made.
type Writer interface {
	Write(ctx context.Context, lines ...Line) error
}

// Client is the part of CloudWatch Logs that Log calls.
type Client interface {
	PutLogEvents(ctx context.Context, in *cloudwatchlogs.PutLogEventsInput, o ...func(*cloudwatchlogs.Options)) (
		*cloudwatchlogs.PutLogEventsOutput, error)
	CreateLogStream(ctx context.Context, in *cloudwatchlogs.CreateLogStreamInput, o ...func(*cloudwatchlogs.Options)) (
		*cloudwatchlogs.CreateLogStreamOutput, error)
}

// Log is the log group. A function writes to the stream of its name, all its processes at once: CloudWatch Logs needs
// no sequence tokens.
type Log struct {
	Client   Client
	Group    string
	Function string
	Now      func() time.Time
}

// New returns the log of a function.
func New(cfg aws.Config, group, function string) Log {
	return Log{Client: cloudwatchlogs.NewFromConfig(cfg), Group: group, Function: function, Now: time.Now}
}

// Write writes up to 100 lines. They stand or fall together: where CloudWatch Logs rejects a part, the error says so,
// and the caller changes nothing. Lines that were taken by then stay, and tell of a request that came to nothing.
func (l Log) Write(ctx context.Context, lines ...Line) error {
	if len(lines) == 0 {
		return nil
	}
	in := &cloudwatchlogs.PutLogEventsInput{LogGroupName: &l.Group, LogStreamName: &l.Function}
	at := l.Now().UnixMilli()
	for _, line := range lines {
		line.Function = l.Function
		if invocation, ok := lambdacontext.FromContext(ctx); ok {
			line.RequestID = cmp.Or(line.RequestID, invocation.AwsRequestID)
		}
		text, err := json.Marshal(line, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return fmt.Errorf("encoding an audit line: %w", err)
		}
		in.LogEvents = append(in.LogEvents, types.InputLogEvent{Message: aws.String(string(text)), Timestamp: &at})
	}
	out, err := l.Client.PutLogEvents(ctx, in)
	if _, none := errors.AsType[*types.ResourceNotFoundException](err); none { // the first line of the function
		if err := l.createStream(ctx); err != nil {
			return err
		}
		out, err = l.Client.PutLogEvents(ctx, in)
	}
	if err != nil {
		return fmt.Errorf("writing the audit log: %w", err)
	}
	if out.RejectedLogEventsInfo != nil {
		return errors.New("writing the audit log: lines were rejected, is the clock wrong?")
	}
	return nil
}

// createStream makes the function's log stream, which is then there for ever. The template makes the log group.
func (l Log) createStream(ctx context.Context) error {
	_, err := l.Client.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{
		LogGroupName: &l.Group, LogStreamName: &l.Function,
	})
	if _, exists := errors.AsType[*types.ResourceAlreadyExistsException](err); exists { // another process was faster
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating a stream of the audit log: %w", err)
	}
	return nil
}
