package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/infra/tool/herald/usage"
	"github.com/herald-webhooks/herald/internal/operators/api"
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
	fields usage.Fields
	line   *cli.Command
}

// dryRun reports whether the plan alone is wanted.
func (c call) dryRun() bool { return c.line.Bool("dry-run") }

// confirm asks before an act, alike for every command, and names the stack and the act.
func (c call) confirm(question string) error {
	return c.Confirm(c.stack.Place() + ": " + question)
}

// confirmNumber asks about what cannot be undone: the number in the question has to be typed.
func (c call) confirmNumber(question string, number int) error {
	if number == 0 || !c.CanAsk() {
		return c.confirm(question)
	}
	c.Say("%s: %s?", c.stack.Place(), answers.Safe(question))
	switch c.Prompt(fmt.Sprintf("This cannot be undone. Type %d to do it: ", number)) {
	case strconv.Itoa(number):
		return nil
	case "": // there may be no terminal
		return exit.With(exit.Failed, "nothing was done: add --yes to act without asking")
	}
	return exit.With(exit.Failed, "nothing was done")
}

// confirmed is an action that asks first.
func (s setup) confirmed(question func(usage.Fields) string, do func(context.Context, call) error) cli.ActionFunc {
	return s.on(func(ctx context.Context, c call) error {
		if err := c.confirm(question(c.fields)); err != nil {
			return err
		}
		return do(ctx, c)
	})
}

// about is a question about a name.
func about(question, name string) string { return fmt.Sprintf(question, answers.Safe(name)) }

// asked is an action that shows an answer, after a question.
func asked[Request, Answer any](
	s setup, question func(usage.Fields) string, action api.Action[Request, Answer],
	request func(usage.Fields) Request,
) cli.ActionFunc {
	return s.confirmed(question, func(ctx context.Context, c call) error {
		return answer(ctx, c, action, request(c.fields))
	})
}

// answer asks for one object, and shows it.
func answer[Request, Answer any](
	ctx context.Context, c call, action api.Action[Request, Answer], request Request,
) error {
	got, err := stack.Ask(ctx, c.stack, action, request)
	if err == nil {
		c.One(got.JSON)
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
		c := call{s.screen(line), found, fields, line}
		err = do(ctx, c)
		if refused, is := errors.AsType[*api.Refusal](err); is && refused.Code == api.CodePublishing {
			c.sayNext("a job works through the rejected events; watch it or stop it:", "jobs list --state running")
		}
		return err
	}
}

// fields are what a line's flags and argument say.
func (s setup) fields(line *cli.Command) (usage.Fields, error) {
	return usage.Read(line, s.terminal.Now(), s.terminal.ReadObject)
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

// command makes a command that acts; its synopsis is its name and arguments.
func command(synopsis, about string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	name, arguments, _ := strings.Cut(synopsis, " ")
	return &cli.Command{Name: name, ArgsUsage: arguments, Usage: about, Action: action, Flags: flags}
}

// group is a command with subcommands.
func group(name, about string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{Name: name, Usage: about, Commands: commands}
}
