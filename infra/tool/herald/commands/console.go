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

	"github.com/herald-webhooks/herald/infra/tool/herald/console"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// consoleCommand is the command console.
func consoleCommand(s setup) *cli.Command {
	return usage.Unplanned(command("console", "the same in your browser, on this machine only, until Ctrl-C", s.on(serve),
		usage.Number("port", "a free port by default", 0, 0, math.MaxUint16)))
}

// serve shows the console until the context ends.
func serve(ctx context.Context, c call) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(c.line.Int("port")))
	if err != nil {
		return exit.With(exit.Failed, "no port to listen on: %v", err)
	}
	var metrics console.Metrics = stack.Logged{Path: stack.LocalLog}
	logs := cloudwatchlogs.NewFromConfig(c.stack.AWS)
	var lines console.Log = stack.LoggedLines{Path: stack.LocalLog, Sample: c.stack.Sample()}
	tail := stack.TailLocal
	if !c.line.Bool("local") {
		tail = c.stack.Tail
		lines = stack.Insights{Stack: c.stack, Client: logs}
		client := cloudwatch.NewFromConfig(c.stack.AWS)
		metrics = stack.Watched{Stack: c.stack, Client: client, History: client}
	}
	shown, err := console.New(console.Config{
		Stack: c.stack, Metrics: metrics,
		Trail: stack.Trail{Stack: c.stack, Client: logs}, Log: lines, Follow: tail, LogCosts: !c.line.Bool("local"),
		Changes: stack.Events{Stack: c.stack, Client: cloudformation.NewFromConfig(c.stack.AWS)},
		Name:    c.stack.Name, Place: c.stack.Place(), Operator: c.stack.Operator, Now: c.Now,
	}, l)
	if err != nil {
		return fmt.Errorf("starting the console: %w", err)
	}
	defer shown.Close()
	c.Say("the console of %s, until Ctrl-C; the address lets in everyone who has it:", c.stack.Place())
	c.Print(shown.URL())
	if c.Broken() != nil {
		return exit.Quietly(exit.Failed) // the address was not shown
	}
	return serveUntilEnd(ctx, &http.Server{
		Handler: shown.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, // an address with a hundred ids has 6 KiB
	}, l)
}

// actPatience is how long a function may take that was asked before the end. Acts of one name take a second.
const actPatience = 15 * time.Second

// serveUntilEnd serves until the context ends. A request that is under way then may be an act, so it is answered.
func serveUntilEnd(ctx context.Context, server *http.Server, l net.Listener) error {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), actPatience)
		defer cancel()
		if server.Shutdown(last) != nil {
			_ = server.Close() // the act that takes longer has no answer
		}
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serving the console: %w", err)
	}
	<-ended
	return nil
}
