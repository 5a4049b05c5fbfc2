package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// serve shows the console until the context ends.
func (a *app) serve(ctx context.Context, c *cli.Command, s stack, _ fields) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(c.Int("port")))
	if err != nil {
		return fail(exitFailed, "no port to listen on: %v", err)
	}
	var metrics console.Metrics = logged{localLog}
	if !c.Bool("local") {
		metrics = watched{s, cloudwatch.NewFromConfig(s.aws)}
	}
	shown, err := console.New(console.Config{
		Stack: s, Metrics: metrics, Trail: trail{s, cloudwatchlogs.NewFromConfig(s.aws)},
		Name: s.name, Operator: s.operator, Now: a.now,
	}, l)
	if err != nil {
		return fmt.Errorf("starting the console: %w", err)
	}
	server := &http.Server{Handler: shown.Handler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // ends Serve
	defer stop()
	a.say("the console of %s, until Ctrl-C; the address lets in whoever has it:", s.name)
	if a.print(shown.URL()); a.broken != nil {
		return nil // nobody has the address
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the console: %w", err)
	}
	return nil
}
