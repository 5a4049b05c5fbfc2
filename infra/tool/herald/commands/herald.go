// Package commands is the commands of herald: a file for each, or for a few that belong together.
//
// Each command reads its line first and refuses a wrong one, then looks for the stack, then asks before it acts. It
// promises data on standard output and words on standard error, one exit code for each kind of end, and a remedy with
// each error. It keeps nothing and knows no table: it shows answers of functions.
package commands

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// Run runs a command line, the program's name included, on a terminal, and returns the exit code.
func Run(ctx context.Context, args []string, t *terminal.Terminal, connect Connect) int {
	return end(t, tree(setup{t, connect}).Run(ctx, args))
}

// tree is all commands.
func tree(s setup) *cli.Command {
	root := &cli.Command{
		Name:  "herald",
		Usage: "look at a Herald stack and act on it",
		Description: "IAM decides what you may do: attach the stack's policy InstanceManagers, Deleters to delete\n" +
			"for good, and KeyIssuers to issue keys and import. Every request carries your ARN. CloudTrail\n" +
			"proves who asked, if its data events are on.\n" +
			"Exit codes: 0 done, 1 failed, 2 usage, 3 unhealthy or done in part, 4 denied.",
		Version:               version(build()),
		EnableShellCompletion: true,
		Suggest:               true,
		Reader:                s.terminal.In,
		Writer:                s.terminal.Out,
		ErrWriter:             s.terminal.Err,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // Run explains the error
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "stack", Sources: cli.EnvVars("HERALD_STACK"), Usage: "the stack, if there are several"},
			&cli.StringFlag{Name: "region", Usage: "AWS region"},
			&cli.StringFlag{Name: "profile", Usage: "profile of your AWS configuration"},
			&cli.StringFlag{Name: "account", Sources: cli.EnvVars("HERALD_ACCOUNT"), Validator: usage.CheckAccount,
				Usage: "12 digits: refuse credentials of any other AWS account"},
			&cli.BoolFlag{Name: "local", Usage: "the local stack that runs from this folder"},
			usage.Output(),
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "act without asking"},
			&cli.BoolFlag{Name: "no-input", Usage: "never ask: refuse commands that need an answer"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the plan and do nothing; refused by commands without one"},
		},
		Commands: []*cli.Command{
			statusCommand(s), endpointCommands(s), tenantCommands(s), deliveryCommands(s), deadCommands(s),
			rejectedCommands(s), jobCommands(s), keyCommands(s), eventCommands(s), typeCommands(s), testCommand(s),
			tailCommand(s),
			stopCommand(s), startCommand(s), verifyCommand(s), codeCommand(s), consoleCommand(s),
		},
	}
	usage.Prepare(root)
	return root
}
