// Command local runs the local stack of this folder, a checkout, in the foreground until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/herald-webhooks/herald/infra/kit/statefile"
	"github.com/herald-webhooks/herald/infra/local/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	flag.Parse() // there are none
	o := stack.Options{
		Out: os.Stdout, Parameters: strings.Fields(os.Getenv("PARAMS")),
		APIPort: os.Getenv("API_PORT"), AWSPort: os.Getenv("AWS_PORT"),
	}
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

func run(ctx context.Context, o stack.Options) error {
	s, err := stack.Start(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return nil // interrupted before it was up, as asked
	case err != nil:
		return err
	}
	defer s.Close()
	welcome(s.State)
	select {
	case <-ctx.Done():
		fmt.Println("stopping")
		return nil
	case <-s.Done():
		return errors.New("the AWS emulator ended, see .local/logs/moto.log")
	}
}

func welcome(s statefile.State) {
	fmt.Printf(`
The stack is up; Ctrl-C ends it.

  HTTP API      %s
  AWS endpoint  %s   (every service, Lambda's Invoke included; any credentials)
  AWS profile   %s in %s
  tenant        %s
  API key       %s
  CA            %s

It deployed template.yaml as it is; after a change, start it again.

In another terminal, from this folder:

%s`, s.APIURL, s.AWSEndpointURL, statefile.Profile, s.AWSConfigFile, s.TenantID, s.APIKey, s.CAFile, s.Commands())
}
