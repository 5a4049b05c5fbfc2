package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/internal/config"
)

// root is the tree of commands.
func (a *app) root() *cli.Command {
	root := &cli.Command{
		Name:  "herald",
		Usage: "look at a stack of Herald and act on it",
		Description: "What you may do is decided by IAM: attach the stack's policy InstanceManagers, and KeyIssuers for\n" +
			"keys and imports. Your ARN is logged with every request; CloudTrail has the proof.\n" +
			"Exit codes: 0 done, 1 failed, 2 usage, 3 unhealthy or done in part, 4 denied.",
		Version:               config.Version,
		EnableShellCompletion: true,
		Suggest:               true,
		Reader:                a.in,
		Writer:                a.out,
		ErrWriter:             a.err,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // run prints the error
		OnUsageError: func(_ context.Context, c *cli.Command, err error, _ bool) error {
			return fail(exitUsage, "%v; see %s --help", err, c.FullName())
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "stack", Sources: cli.EnvVars("HERALD_STACK"), Usage: "the stack, if there are several"},
			&cli.StringFlag{Name: "region", Usage: "AWS region"},
			&cli.StringFlag{Name: "profile", Usage: "profile of your AWS configuration"},
			&cli.BoolFlag{Name: "local", Usage: "the local stack that runs from this folder"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "table", Usage: "table or json",
				Validator: func(s string) error {
					if s != "table" && s != "json" {
						return fmt.Errorf("--output is table or json, not %q", s)
					}
					return nil
				}},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "act without a question"},
			&cli.BoolFlag{Name: "no-input", Usage: "never ask: refuse a command that would need an answer"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the plan, and do nothing"},
		},
		Commands: []*cli.Command{
			a.status(), a.endpoints(), a.tenants(), a.deliveries(), a.dead(), a.rejected(), a.jobs(), a.keys(), a.events(),
			a.test(), a.tail(), a.verify(), a.console(),
		},
	}
	prepare(root, root.OnUsageError)
	return root
}

// prepare makes every command refuse wrong usage alike.
func prepare(c *cli.Command, onUsage cli.OnUsageErrorFunc) {
	c.OnUsageError = onUsage
	c.Before = refuseEmpty
	if len(c.Commands) > 0 {
		c.Action = unknown
	}
	for _, sub := range c.Commands {
		prepare(sub, onUsage)
	}
}

// refuseEmpty refuses flags without a value: left out, an unset variable of a script would widen a request.
func refuseEmpty(ctx context.Context, c *cli.Command) (context.Context, error) {
	for _, f := range c.Flags {
		name := f.Names()[0]
		if _, ok := f.(*cli.StringFlag); ok && c.IsSet(name) && c.String(name) == "" {
			return ctx, fail(exitUsage, "--%s is empty", name)
		}
	}
	return ctx, nil
}

// unknown is the action of a command with subcommands only.
func unknown(_ context.Context, c *cli.Command) error {
	if !c.Args().Present() {
		return cli.ShowSubcommandHelp(c)
	}
	var names []string
	for _, sub := range c.Commands {
		if sub.Name != "help" {
			names = append(names, sub.Name)
		}
	}
	return fail(exitUsage, "no command %q of %s: there are %s",
		safe(c.Args().First()), c.FullName(), strings.Join(names, ", "))
}

// isJSON reports whether the output is to be JSON.
func isJSON(c *cli.Command) bool { return c.String("output") == "json" }

// read reads a file, or standard input for "-".
func (a *app) read(path string) (b []byte, err error) {
	if path != "-" {
		b, err = os.ReadFile(path) //nolint:gosec // the path is the caller's own
	} else {
		b, err = io.ReadAll(a.in)
	}
	if err != nil {
		return nil, fail(exitUsage, "reading %s: %v", path, err)
	}
	return b, nil
}
