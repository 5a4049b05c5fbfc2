package commands

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/herald/exit"
	"github.com/herald-webhooks/herald/infra/herald/stack"
	"github.com/herald-webhooks/herald/infra/herald/usage"
)

// consoleCommand is the command console.
func consoleCommand(s setup) *cli.Command {
	return usage.Unplanned(command("console", "the same as a page, on this machine only, until Ctrl-C", s.on(serve),
		usage.Number("port", "any free one by default", 0, 0, math.MaxUint16)))
}

// serve shows the console until the context ends.
func serve(ctx context.Context, c call) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(c.line.Int("port")))
	if err != nil {
		return exit.With(exit.Failed, "no port to listen on: %v", err)
	}
	var metrics console.Metrics = stack.Logged{Path: stack.LocalLog}
	logs := cloudwatchlogs.NewFromConfig(c.stack.AWS)
	var lines console.Log = stack.LoggedLines{Path: stack.LocalLog}
	if !c.line.Bool("local") {
		lines = stack.Insights{Stack: c.stack, Client: logs}
		client := cloudwatch.NewFromConfig(c.stack.AWS)
		metrics = stack.Watched{Stack: c.stack, Client: client, History: client}
	}
	shown, err := console.New(console.Config{
		Stack: c.stack, Metrics: metrics,
		Trail: stack.Trail{Stack: c.stack, Client: logs}, Log: lines, LogCosts: !c.line.Bool("local"),
		Changes: stack.Events{Stack: c.stack, Client: cloudformation.NewFromConfig(c.stack.AWS)},
		Name:    c.stack.Name, Place: c.stack.Place(), Operator: c.stack.Operator, Now: c.Now,
	}, l)
	if err != nil {
		return fmt.Errorf("starting the console: %w", err)
	}
	server := &http.Server{Handler: shown.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // ends Serve
	defer stop()
	c.Say("the console of %s, until Ctrl-C; the address lets in everyone who has it:", c.stack.Place())
	c.Print(shown.URL())
	if c.Broken() != nil {
		return nil // the address was not shown
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the console: %w", err)
	}
	return nil
}
