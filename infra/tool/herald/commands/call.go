package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
)

// Connect finds a stack: [stack.Connect], or a test's.
type Connect func(context.Context, stack.Where) (stack.Stack, error)

// setup makes commands.
type setup struct {
	terminal *terminal.Terminal
	connect  Connect
}

// call is one call of a command: its line, the stack that the line leads to, and the terminal.
type call struct {
	terminal.Screen
	stack  stack.Stack
	fields answers.Row // of a request, that flags and argument set
	line   *cli.Command
}

// dryRun reports whether the plan alone is wanted.
func (c call) dryRun() bool { return c.line.Bool("dry-run") }

// confirm asks before an act, alike for every command, and names the stack and the act.
func (c call) confirm(question string) error {
	return c.Confirm(c.stack.Place() + ": " + question)
}

// confirmed is an action that asks first.
func (s setup) confirmed(question func(call) string, do func(context.Context, call) error) cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error {
		if err := c.confirm(question(c)); err != nil {
			return err
		}
		return do(ctx, c)
	})
}

// about is a question about a field of the request.
func about(question, field string) func(call) string {
	return func(c call) string { return fmt.Sprintf(question, answers.Safe(answers.Text(c.fields, field))) }
}

// asked is an action that shows a function's answer, after a question.
func (s setup) asked(question func(call) string, function, action string) cli.ActionFunc {
	return s.confirmed(question, func(ctx context.Context, c call) error {
		return c.answer(ctx, function, action, c.fields)
	})
}

// answer asks an operator function for one object, and shows it.
func (c call) answer(ctx context.Context, function, action string, fields answers.Row) error {
	got, err := c.stack.Ask(ctx, function, action, fields)
	if err == nil {
		c.One(got)
	}
	return err
}

// on is an action on the stack of its line.
func (s setup) on(do func(context.Context, call) error) cli.ActionFunc {
	return func(ctx context.Context, line *cli.Command) error {
		fields, err := s.fields(line)
		if err != nil {
			return err
		}
		found, err := s.connect(ctx, whereOf(line))
		if err != nil {
			return err
		}
		return do(ctx, call{s.screen(line), found, fields, line})
	}
}

// fields are those of a request, that a line's flags and argument set.
func (s setup) fields(line *cli.Command) (answers.Row, error) {
	return usage.Fields(line, s.terminal.Now(), s.terminal.ReadObject)
}

// screen is the terminal as a line wants it.
func (s setup) screen(line *cli.Command) terminal.Screen {
	return terminal.Screen{
		Terminal: s.terminal, JSON: line.String("output") == "json", Yes: line.Bool("yes"), NoInput: line.Bool("no-input"),
	}
}

// whereOf is the stack that a line leads to.
func whereOf(line *cli.Command) stack.Where {
	return stack.Where{
		Name: line.String("stack"), Region: line.String("region"), Profile: line.String("profile"),
		Account: line.String("account"), Local: line.Bool("local"),
	}
}

// one is an action that shows a function's answer.
func (s setup) one(function, action string) cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error { return c.answer(ctx, function, action, c.fields) })
}

// command makes a command that acts; its synopsis is its name and arguments.
func command(synopsis, about string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	name, arguments, _ := strings.Cut(synopsis, " ")
	return &cli.Command{Name: name, ArgsUsage: arguments, Usage: about, Action: action, Flags: flags}
}

// group is a command with subcommands.
func group(name, about string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{Name: name, Usage: about, Commands: commands}
}
