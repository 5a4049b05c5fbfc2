// Command local runs the local stack in the foreground until it is interrupted.
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

	"github.com/herald-webhooks/herald/infra/internal/commands"
	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/infra/local/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o := stack.Options{Out: os.Stdout, APIPort: os.Getenv("API_PORT"), AWSPort: os.Getenv("AWS_PORT")}
	flag.StringVar(&o.Root, "root", ".", "the checkout")
	flag.StringVar(&o.Dir, "dir", "", "folder for state, logs and binaries (default ROOT/.local)")
	flag.StringVar(&o.Python, "python", "",
		"interpreter with moto and the SAM translator (default STACK_PYTHON, ROOT/.venv/bin/python or python3)")
	params := flag.String("params", os.Getenv("PARAMS"),
		`parameters of the template, "Name=Value …"; they win over the samconfig file's (default PARAMS)`)
	flag.StringVar(&o.Template, "template", "", "SAM template (default ROOT/template.yaml)")
	flag.StringVar(&o.SAMConfig, "samconfig", "", "its configuration (default ROOT/samconfig.toml)")
	flag.Parse()
	o.Parameters = strings.Fields(*params)
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

%s`, s.APIURL, s.AWSEndpointURL, statefile.Profile, s.AWSConfigFile, s.TenantID, s.APIKey, s.CAFile, commands.Stack(s))
}
