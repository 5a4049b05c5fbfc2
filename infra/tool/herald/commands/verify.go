package commands

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/infra/tool/verify"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// verifyCommand is the command verify.
func verifyCommand(s setup) *cli.Command {
	c := usage.Unplanned(command("verify", "prove the stack end to end, with tenants of its own; report in Markdown",
		s.on(runVerify),
		&cli.BoolFlag{Name: "probe", Usage: "create a function with each role in turn, and try forbidden calls"},
		&cli.BoolFlag{Name: "alarm", Usage: "set off an alarm of each topic, which reaches whoever is on call"}))
	c.Description = "On a stack that serves others it raises alarms: rejected events and, if the schedule is short,\n" +
		"deaths. If it is interrupted, run it again: it removes what it left behind."
	return c
}

func runVerify(ctx context.Context, c call) error {
	if err := c.confirm("Send some 70 events of two tenants of its own through it"); err != nil {
		return err
	}
	run, err := proofOf(ctx, c.stack, c.line.Bool("local"))
	if err != nil {
		return err
	}
	return removing(c, run.remove, func() error { return prove(ctx, c, run.config) })
}

// removing runs, and removes the receiver after that. Remains are told in any case.
func removing(c call, remove, run func() error) error {
	broken := run()
	err := remove()
	if err == nil {
		return broken
	}
	left := c.stack.Explain("removing the receiver", err)
	if broken == nil {
		return left
	}
	c.Say("%v", left)
	return broken
}

// prove takes every step and prints the report.
func prove(ctx context.Context, c call, config verify.Config) error {
	if !config.Local {
		prober := verify.NewProber(c.stack.AWS, c.stack.Name)
		config.RemoveProbes = prober.Remove
		config.Direct = config.Client.Lambda
		if c.line.Bool("alarm") {
			config.Bell = cloudwatch.NewFromConfig(c.stack.AWS)
		}
		if c.line.Bool("probe") {
			config.Try = prober.Try
		}
	}
	config.Progress = func(r verify.Result) { c.Say("%-9s %s: %s", r.State, r.Step, r.Says) }
	results, ok := verify.Run(ctx, config)
	c.Print(verify.Report(c.stack.Name, c.Now(), results, ok))
	if ok {
		return nil
	}
	return &exit.Error{Code: exit.Unhealthy, Text: "the stack does not work as it should"}
}

// proof is a run against a stack, and how its receiver is removed after it.
type proof struct {
	config verify.Config
	remove func() error
}

// proofOf prepares a run against a stack.
func proofOf(ctx context.Context, s stack.Stack, local bool) (proof, error) {
	waits, processes, err := pace(s)
	if err != nil {
		return proof{}, err
	}
	operators, err := functionARNs(s)
	if err != nil {
		return proof{}, err
	}
	receive := receiveOnAWS
	if local {
		receive = receiveHere
	}
	run, state, err := receive(ctx, s)
	if err != nil {
		return proof{}, err
	}
	c := &run.config
	c.Name, c.Local = s.Name, local
	c.Patience, c.Objective = 3*time.Minute, 30*time.Second
	c.Waits, c.Processes = waits, processes
	c.Operators = operators
	c.FIPSEndpoints = s.Parameters[parameters.FipsEndpoints] == "yes"
	c.PoliciesOff = s.Parameters[parameters.FunctionPolicies] == "off"
	c.Client = &client.Client{
		State: state, Operator: s.Operator, HTTP: &http.Client{Timeout: 30 * time.Second}, SQS: sqs.NewFromConfig(s.AWS),
		Lambda: lambda.NewFromConfig(s.AWS, func(o *lambda.Options) { o.RetryMaxAttempts = 1 }),
	}
	return run, nil
}

// receiveHere starts a receiver on this machine, for the local stack.
func receiveHere(context.Context, stack.Stack) (proof, statefile.State, error) {
	state, err := statefile.Read(stack.LocalState)
	if err != nil {
		return proof{}, state, exit.With(exit.Failed, "%v", err)
	}
	receiver, err := verify.StartLocal(state.ReceiverCertFile, state.ReceiverKeyFile)
	if err != nil {
		return proof{}, state, fmt.Errorf("starting a receiver: %w", err)
	}
	config := verify.Config{Receiver: receiver, Logs: verify.LocalLogs(stack.LocalLogs)}
	return proof{config, receiver.Close}, state, nil
}

// receiveOnAWS makes a receiver in the account of the stack.
func receiveOnAWS(ctx context.Context, s stack.Stack) (proof, statefile.State, error) {
	state := statefile.State{
		APIURL: s.Outputs["ApiUrl"], EventsQueueURL: s.Outputs["EventsQueueUrl"], Region: s.AWS.Region, StackName: s.Name,
		Functions: s.Functions,
	}
	receiver, err := verify.StartOnAWS(ctx, s.AWS, s.Name)
	if err != nil {
		return proof{}, state, s.Explain("making a receiver", err)
	}
	config := verify.Config{
		Receiver: receiver, Alarms: cloudwatch.NewFromConfig(s.AWS), Trails: cloudtrail.NewFromConfig(s.AWS),
		Logs: verify.CloudWatchLogs{Client: cloudwatchlogs.NewFromConfig(s.AWS), Stack: s.Name},
	}
	remove := func() error { return receiver.Close(context.WithoutCancel(ctx)) }
	return proof{config, remove}, state, nil
}

// functionARNs are those of the operator functions and of replay's alias. A stack is in its caller's account.
func functionARNs(s stack.Stack) (all []string, err error) {
	caller, err := arn.Parse(s.Operator)
	if err != nil {
		return nil, fmt.Errorf("reading your ARN: %w", err)
	}
	for _, name := range s.Functions {
		all = append(all, arn.ARN{
			Partition: caller.Partition, Service: "lambda", Region: s.AWS.Region, AccountID: caller.AccountID,
			Resource: "function:" + name,
		}.String())
	}
	return all, nil
}

// pace reads the waits between a delivery's attempts, and the number of deliver's processes, from the parameters.
func pace(s stack.Stack) (waits []time.Duration, processes int, err error) {
	number := func(name string) float64 {
		n, parseErr := strconv.ParseFloat(s.Parameters[name], 64)
		if parseErr != nil && err == nil {
			err = exit.With(exit.Failed, "the stack has no parameter %s: it is not of this version", name)
		}
		return n
	}
	base := time.Duration(number(parameters.RetryBaseSeconds) * float64(time.Second))
	schedule := retry.Schedule{Base: base, Factor: number(parameters.RetryFactor)}
	for n := range int(number(parameters.MaxRetries)) {
		waits = append(waits, schedule.Wait(n+1, 0, 0, 0))
	}
	return waits, int(number(parameters.DeliverMaximumConcurrency)), err
}
