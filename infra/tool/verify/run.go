package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// Tenant and its Noisy neighbour own everything that a run makes. One run at a time: the next one clears away
// everything it finds.
const (
	Tenant = "herald-verify"
	Noisy  = "herald-verify-noisy"
)

// Config configures a verification. All fields from Alarms on may be nil.
type Config struct {
	Client    *client.Client
	Receiver  Receiver
	Name      string          // of the stack
	Local     bool            // there is no AWS
	Logs      Logs            // of the functions
	Waits     []time.Duration // between attempts, before they are lengthened at random
	Processes int             // that deliver may have for a queue
	Patience  time.Duration   // for anything that takes a working stack seconds
	Objective time.Duration   // for first attempts: infra/docs/operators.md, "Service levels"
	Progress  func(Result)    // is told of each step when it has ended

	FIPSEndpoints bool // the functions call AWS by its FIPS endpoints
	PoliciesOff   bool // the functions behind queues have no policies, by FunctionPolicies=off

	Operators []string // ARNs of the operator functions, and of replay's alias

	Alarms cloudwatch.DescribeAlarmsAPIClient // nil: the stack has none
	Trails Trails                             // nil: there is no CloudTrail
	Direct Invoker                            // with the caller's rights; nil: there is no Lambda
	Bell   Bell                               // nil: no alarm is set off
	// RemoveProbes removes the functions of Try that a run has left (Prober.Remove); nil: there is no Lambda.
	RemoveProbes func(context.Context) error
	// Try makes calls with the role of a function (Prober.Try); nil: no role is probed.
	Try func(ctx context.Context, function string, calls []Call) (codes []string, err error)
}

// schedule is the longest time from a delivery's first attempt to its last.
func (c Config) schedule() (total time.Duration) {
	for _, wait := range c.Waits {
		total += wait * 12 / 10
	}
	return total
}

// Logs are the functions' logs, each named by its folder.
type Logs interface {
	// Each calls f with every line since a moment, as far as it can be read by now.
	Each(ctx context.Context, function string, since time.Time, f func(text []byte)) error
}

// Trails is the part of CloudTrail that describes trails and their event selectors.
type Trails interface {
	DescribeTrails(context.Context, *cloudtrail.DescribeTrailsInput, ...func(*cloudtrail.Options)) (
		*cloudtrail.DescribeTrailsOutput, error)
	GetTrailStatus(context.Context, *cloudtrail.GetTrailStatusInput, ...func(*cloudtrail.Options)) (
		*cloudtrail.GetTrailStatusOutput, error)
	GetEventSelectors(context.Context, *cloudtrail.GetEventSelectorsInput, ...func(*cloudtrail.Options)) (
		*cloudtrail.GetEventSelectorsOutput, error)
}

// Invoker invokes functions.
type Invoker interface {
	Invoke(context.Context, *lambda.InvokeInput, ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// Bell sets alarms off, and tells the results of their actions.
type Bell interface {
	cloudwatch.DescribeAlarmsAPIClient
	cloudwatch.DescribeAlarmHistoryAPIClient
	SetAlarmState(
		context.Context, *cloudwatch.SetAlarmStateInput, ...func(*cloudwatch.Options),
	) (*cloudwatch.SetAlarmStateOutput, error)
}

// Call is a call that a function's role must be allowed, or must be refused. No call changes anything, even if it is
// allowed by mistake: writes have a condition that no item meets.
type Call struct {
	Function string // its folder
	Action   string // as IAM names it
	Input    string // AWS's JSON, with ${…} for the physical name of a resource
	Allowed  bool
}

// run is a run under way.
type run struct {
	Config
	id       string // of its tenant
	tenant   *client.Client
	endpoint client.Endpoint
	issued   []string // ids of keys
	secret   string
	took     []time.Duration // all events until their first attempts, the shortest first
	began    time.Time
}

// notShown is the error of a step that cannot be seen here.
type notShown string

func (n notShown) Error() string { return string(n) }

// noRight makes of a refusal by IAM that the step cannot be shown.
func noRight(doing, action string, err error) error {
	var refused smithy.APIError
	if errors.As(err, &refused) && strings.HasPrefix(refused.ErrorCode(), "AccessDenied") {
		return notShown("you have no right to look (" + action + ")")
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// eventually bounds a wait by the run's patience.
func (r *run) eventually(ctx context.Context, what string, check client.Check) error {
	return client.Eventually(ctx, r.Patience, what, check)
}

// keyNote describes a run's keys.
const keyNote = "herald verify"

// issueKey makes the run a client of its tenant.
func (r *run) issueKey(ctx context.Context) error {
	key, err := client.Ask(ctx, r.Client, api.IssueKey, api.IssueKeyRequest{TenantID: r.id, Description: keyNote})
	if err != nil {
		return err
	}
	r.tenant, r.issued = r.Client.As(r.id, key.APIKey), append(r.issued, key.KeyID)
	return nil
}
