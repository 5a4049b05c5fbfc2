package main

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

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/infra/verify"
	"github.com/herald-webhooks/herald/internal/retry"
)

// The state file and the logs of the local stack.
const (
	localState = ".local/stack.json"
	localLogs  = ".local/logs"
)

func (a *app) verify() *cli.Command {
	return &cli.Command{
		Name: "verify", Usage: "prove the stack end to end, as tenants of its own; a report in Markdown",
		Description: "It raises the alarms of a stack that serves others: rejected events and, on a stack with a short\n" +
			"schedule, deaths. Interrupted, it removes its remains when it is run again.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "probe", Usage: "make a function with each role in turn, and try forbidden calls"},
		},
		Action: a.on(func(ctx context.Context, c *cli.Command, s stack, _ fields) error {
			if err := a.confirm(c, "Send some 70 events of two tenants of its own through "+s.name); err != nil {
				return err
			}
			config, end, err := s.verification(ctx, c.Bool("local"))
			if err != nil {
				return err
			}
			return a.removing(s, end, a.prove(ctx, c.Bool("probe"), s, config))
		}),
	}
}

// removing ends the receiver after a run. What could not be removed is told in any case.
func (a *app) removing(s stack, end func() error, run error) error {
	err := end()
	if err == nil {
		return run
	}
	err = s.explain("removing the receiver", err)
	if run == nil {
		return err
	}
	a.say("%v", err)
	return run
}

// prove takes every step and prints the report.
func (a *app) prove(ctx context.Context, probe bool, s stack, config verify.Config) error {
	if !config.Local {
		prober := verify.NewProber(s.aws, s.name)
		config.RemoveProbes = prober.Remove
		if probe {
			config.Try = prober.Try
		}
	}
	config.Progress = func(r verify.Result) { a.say("%-9s %s: %s", r.State, r.Step, r.Says) }
	results, ok := verify.Run(ctx, config)
	a.print(verify.Report(s.name, a.now(), results, ok))
	if ok {
		return nil
	}
	return &failure{code: exitUnhealthy, text: "the stack does not work as it should"}
}

// verification is the configuration of a run against the stack; end stops its receiver.
func (s stack) verification(ctx context.Context, local bool) (c verify.Config, end func() error, err error) {
	state := statefile.State{
		APIURL: s.outputs["ApiUrl"], EventsQueueURL: s.outputs["EventsQueueUrl"], Region: s.aws.Region, StackName: s.name,
		Functions: s.functions,
	}
	c = verify.Config{Name: s.name, Local: local, Patience: 3 * time.Minute}
	if c.Waits, c.Processes, err = s.pace(); err != nil {
		return c, nil, err
	}
	if c.Operators, err = s.functionARNs(); err != nil {
		return c, nil, err
	}
	var receiver *verify.Local
	if local {
		if state, err = statefile.Read(localState); err != nil {
			return c, nil, fail(exitFailed, "%v", err)
		}
		if receiver, err = verify.StartLocal(state.ReceiverCertFile, state.ReceiverKeyFile); err != nil {
			return c, nil, fmt.Errorf("starting a receiver: %w", err)
		}
		c.Receiver, c.Logs, end = receiver, verify.LocalLogs(localLogs), receiver.Close
	} else {
		made, err := verify.StartOnAWS(ctx, s.aws, s.name)
		if err != nil {
			return c, nil, s.explain("making a receiver", err)
		}
		c.Receiver, c.Alarms = made, cloudwatch.NewFromConfig(s.aws)
		end = func() error { return made.Close(context.WithoutCancel(ctx)) }
		c.Logs = verify.CloudWatchLogs{Client: cloudwatchlogs.NewFromConfig(s.aws), Stack: s.name}
		c.Trails = cloudtrail.NewFromConfig(s.aws)
	}
	c.Client = &client.Client{
		State: state, Operator: s.operator, HTTP: &http.Client{Timeout: 30 * time.Second}, SQS: sqs.NewFromConfig(s.aws),
		Lambda: lambda.NewFromConfig(s.aws, func(o *lambda.Options) { o.RetryMaxAttempts = 1 }),
	}
	return c, end, nil
}

// functionARNs are those of the operator functions and of replay's alias. A stack is in its caller's account.
func (s stack) functionARNs() (all []string, err error) {
	caller, err := arn.Parse(s.operator)
	if err != nil {
		return nil, fmt.Errorf("reading your ARN: %w", err)
	}
	for _, name := range s.functions {
		all = append(all, arn.ARN{
			Partition: caller.Partition, Service: "lambda", Region: s.aws.Region, AccountID: caller.AccountID,
			Resource: "function:" + name,
		}.String())
	}
	return all, nil
}

// pace reads the waits between a delivery's attempts, and the number of deliver's processes, from the parameters.
func (s stack) pace() (waits []time.Duration, processes int, err error) {
	number := func(name string) float64 {
		n, parseErr := strconv.ParseFloat(s.parameters[name], 64)
		if parseErr != nil && err == nil {
			err = fail(exitFailed, "the stack has no parameter %s: it is not of this version", name)
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
