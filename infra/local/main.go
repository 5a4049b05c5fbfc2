// Command local runs the local stack in the foreground until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/herald-webhooks/herald/infra/internal/commands"
	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/infra/local/internal/async"
	"github.com/herald-webhooks/herald/infra/local/internal/sam"
	"github.com/herald-webhooks/herald/infra/local/stack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

func run(ctx context.Context, args []string) error {
	o := stack.Options{Out: os.Stdout}
	for name, port := range map[string]*int{"API_PORT": &o.APIPort, "AWS_PORT": &o.AWSPort, "MOTO_PORT": &o.MotoPort} {
		if err := fromEnv(name, port); err != nil {
			return err
		}
	}
	flags := flag.NewFlagSet("stack", flag.ExitOnError)
	flags.StringVar(&o.Root, "root", ".", "the checkout")
	flags.StringVar(&o.Dir, "dir", "", "folder for state, logs and binaries (default ROOT/.local)")
	flags.StringVar(&o.Python, "python", "",
		"interpreter with moto and the SAM translator (default STACK_PYTHON, ROOT/.venv/bin/python or python3)")
	flags.StringVar(&o.StackName, "name", "", "name of the deployed stack (default herald-local)")
	params := flags.String("params", os.Getenv("PARAMS"),
		`parameters of the template, "Name=Value …"; they win over the samconfig file's (default PARAMS)`)
	flags.IntVar(&o.APIPort, "api-port", o.APIPort, "port of the HTTP API (0: a free one)")
	flags.IntVar(&o.AWSPort, "aws-port", o.AWSPort, "port of the AWS endpoint (0: a free one)")
	flags.IntVar(&o.MotoPort, "moto-port", o.MotoPort, "port of the emulator behind it (0: a free one)")
	flags.StringVar(&o.Template, "template", "", "SAM template (default ROOT/template.yaml)")
	flags.StringVar(&o.SAMConfig, "samconfig", "", "its configuration (default ROOT/samconfig.toml)")
	flags.BoolVar(&o.NoTenant, "no-tenant", false, "issue no API key")
	if err := flags.Parse(args); err != nil {
		return err //nolint:wrapcheck // never: the flag set exits
	}
	var err error
	if o.Parameters, err = sam.ParseParameters(*params); err != nil {
		return err
	}
	s, err := stack.Start(ctx, o)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return nil // interrupted before it was up: stopped is what was asked for
	case err != nil:
		return err
	}
	defer s.Close()
	welcome(s.State, s.Schedules())
	select {
	case <-ctx.Done():
		fmt.Println("stopping")
		return nil
	case <-s.Done():
		return errors.New("the AWS emulator ended, see .local/logs/moto.log")
	}
}

// fromEnv reads a port, if the variable has one.
func fromEnv(name string, port *int) error {
	text := os.Getenv(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("%s: %q is not a port: a number from 0 to 65535, where 0 takes a free one", name, text)
	}
	*port = int(n)
	return nil
}

func welcome(s statefile.State, schedules []string) {
	fmt.Printf(`
The stack is up; Ctrl-C ends it.

  HTTP API      %s
  AWS endpoint  %s   (every service, Lambda's Invoke included; any credentials)
  AWS profile   %s in %s
  tenant        %s
  API key       %s
  CA            %s
`, s.APIURL, s.AWSEndpointURL, statefile.Profile, s.AWSConfigFile, s.TenantID, s.APIKey, s.CAFile)
	for _, line := range schedules {
		fmt.Println("  schedule     ", line)
	}
	if len(schedules) > 0 {
		fmt.Printf("                (a minute that the template declares lasts %s here)\n", async.Minute)
	}
	fmt.Println("\nIt deployed template.yaml as it is; after a change, start it again (sam deploy is refused here).")
	fmt.Printf("\nIn another terminal, from this folder:\n\n%s", commands.Stack(s))
}
