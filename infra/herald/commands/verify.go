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

	"github.com/herald-webhooks/herald/infra/herald/exit"
	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/herald/usage"
	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/infra/verify"
	"github.com/herald-webhooks/herald/internal/retry"
)

// verifyCommand is the command verify.
func verifyCommand(s setup) *cli.Command {
	c := usage.Unplanned(command("verify", "prove the stack end to end, as tenants of its own; a report in Markdown",
		s.on(runVerify),
		&cli.BoolFlag{Name: "probe", Usage: "make a function with each role in turn, and try forbidden calls"}))
	c.Description = "It raises the alarms of a stack that serves others: rejected events and, on a stack with a short\n" +
		"schedule, deaths. Interrupted, it removes its remains when it is run again."
	return c
}

func runVerify(ctx context.Context, c call) error {
	if err := c.Confirm("Send some 70 events of two tenants of its own through " + c.stack.Name); err != nil {
		return err
	}
	config, remove, err := verification(ctx, c.stack, c.line.Bool("local"))
	if err != nil {
		return err
	}
	return removing(c, remove, prove(ctx, c, config))
}

// removing ends the receiver after a run. What could not be removed is told in any case.
func removing(c call, remove func() error, run error) error {
	err := remove()
	if err == nil {
		return run
	}
	err = c.stack.Explain("removing the receiver", err)
	if run == nil {
		return err
	}
	c.Say("%v", err)
	return run
}

// prove takes every step and prints the report.
func prove(ctx context.Context, c call, config verify.Config) error {
	if !config.Local {
		prober := verify.NewProber(c.stack.AWS, c.stack.Name)
		config.RemoveProbes = prober.Remove
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

// verification is the configuration of a run against the stack; end stops its receiver.
func verification(
	ctx context.Context, s stack.Stack, local bool,
) (c verify.Config, end func() error, err error) {
	state := statefile.State{
		APIURL: s.Outputs["ApiUrl"], EventsQueueURL: s.Outputs["EventsQueueUrl"], Region: s.AWS.Region, StackName: s.Name,
		Functions: s.Functions,
	}
	c = verify.Config{Name: s.Name, Local: local, Patience: 3 * time.Minute}
	if c.Waits, c.Processes, err = pace(s); err != nil {
		return c, nil, err
	}
	if c.Operators, err = functionARNs(s); err != nil {
		return c, nil, err
	}
	var receiver *verify.Local
	if local {
		if state, err = statefile.Read(stack.LocalState); err != nil {
			return c, nil, exit.With(exit.Failed, "%v", err)
		}
		if receiver, err = verify.StartLocal(state.ReceiverCertFile, state.ReceiverKeyFile); err != nil {
			return c, nil, fmt.Errorf("starting a receiver: %w", err)
		}
		c.Receiver, c.Logs, end = receiver, verify.LocalLogs(stack.LocalLogs), receiver.Close
	} else {
		made, err := verify.StartOnAWS(ctx, s.AWS, s.Name)
		if err != nil {
			return c, nil, s.Explain("making a receiver", err)
		}
		c.Receiver, c.Alarms = made, cloudwatch.NewFromConfig(s.AWS)
		end = func() error { return made.Close(context.WithoutCancel(ctx)) }
		c.Logs = verify.CloudWatchLogs{Client: cloudwatchlogs.NewFromConfig(s.AWS), Stack: s.Name}
		c.Trails = cloudtrail.NewFromConfig(s.AWS)
	}
	c.Client = &client.Client{
		State: state, Operator: s.Operator, HTTP: &http.Client{Timeout: 30 * time.Second}, SQS: sqs.NewFromConfig(s.AWS),
		Lambda: lambda.NewFromConfig(s.AWS, func(o *lambda.Options) { o.RetryMaxAttempts = 1 }),
	}
	return c, end, nil
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
	base := time.Duration(number("RetryBaseSeconds") * float64(time.Second))
	schedule := retry.Schedule{Base: base, Factor: number("RetryFactor")}
	for n := range int(number("MaxRetries")) {
		waits = append(waits, schedule.Wait(n+1, 0, 0, 0))
	}
	return waits, int(number("DeliverMaximumConcurrency")), err
}
