// Package usage reads what operators write, in command lines and in the forms of pages, into the fields of a request.
//
// It promises that a line with a fault is refused in plain words before anything else is done: an unknown or empty
// flag, a word too many, a time that is none, a flag given twice, --dry-run where a command has no plan.
package usage

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// Prepare makes every command refuse wrong usage alike.
func Prepare(c *cli.Command) {
	c.OnUsageError = func(_ context.Context, c *cli.Command, err error, _ bool) error {
		return exit.With(exit.Usage, "%s; see %s --help", misused(c, err.Error()), c.FullName())
	}
	takesFlags := len(c.Commands) == 0 && c.ArgsUsage == ""
	c.Before = func(ctx context.Context, c *cli.Command) (context.Context, error) {
		if err := refuse(c); err != nil || !takesFlags {
			return ctx, err
		}
		return ctx, refuseWords(c)
	}
	if len(c.Commands) > 0 {
		c.Action = orUnknown(c.Action)
	}
	for _, f := range c.Flags {
		once(f)
	}
	for _, sub := range c.Commands {
		Prepare(sub)
	}
}

// refuse refuses wrong usage that the library lets pass.
func refuse(c *cli.Command) error {
	if err := refuseEmpty(c); err != nil {
		return err
	}
	if err := refuseNotLocal(c); err != nil {
		return err
	}
	return refuseDryRun(c)
}

// noPlan marks a command in its metadata.
const noPlan = "no plan"

// Unplanned marks a command that acts, or lets act, and has no plan to print.
func Unplanned(c *cli.Command) *cli.Command {
	c.Metadata = map[string]any{noPlan: true}
	return c
}

// refuseDryRun refuses --dry-run where the command would still act.
func refuseDryRun(c *cli.Command) error {
	if c.Bool("dry-run") && c.Metadata[noPlan] == true {
		return exit.With(exit.Usage, "--dry-run: %s has no plan to print; nothing was done", c.FullName())
	}
	return nil
}

// once has a flag given once: of two values, a request would leave out the first.
func once(f cli.Flag) {
	switch f := f.(type) {
	case *cli.StringFlag:
		f.OnlyOnce = true
	case *cli.IntFlag:
		f.OnlyOnce = true
	}
}

// The patterns match errors of the command-line library about wrong usage. Some of these errors quote Go's own
// packages.
var (
	badValue   = regexp.MustCompile(`^invalid value "(.*)" for flag -(\S+): (.*)$`)
	noFlag     = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	noValue    = regexp.MustCompile(`^flag needs an argument: -*(.*)$`)
	notGiven   = regexp.MustCompile(`^Required flags? "(.*)" not set$`)
	wordsOfGo  = regexp.MustCompile(`strconv|parse error`)
	outOfRange = "value out of range"
)

// misused puts wrong usage into plain words.
func misused(c *cli.Command, err string) string {
	switch bad := badValue.FindStringSubmatch(err); {
	case bad == nil:
	case strings.Contains(bad[3], outOfRange):
		return fmt.Sprintf("%s: %q is too large", dashed(bad[2]), bad[1])
	case strings.Contains(bad[3], "can't duplicate"):
		return dashed(bad[2]) + " is given twice"
	case wordsOfGo.MatchString(bad[3]) && isSwitch(c, bad[2]):
		return fmt.Sprintf("%s is given without a value, and not %q", dashed(bad[2]), bad[1])
	case wordsOfGo.MatchString(bad[3]):
		return fmt.Sprintf("%s: %q is not a whole number", dashed(bad[2]), bad[1])
	case strings.HasPrefix(bad[3], "--"):
		return bad[3]
	default:
		return dashed(bad[2]) + ": " + bad[3]
	}
	if bad := noFlag.FindStringSubmatch(err); bad != nil {
		return invoke.NoSuch("flag", dashed(bad[1]), flagsOf(c))
	}
	if bad := noValue.FindStringSubmatch(err); bad != nil {
		return dashed(bad[1]) + " needs a value"
	}
	if bad := notGiven.FindStringSubmatch(err); bad != nil {
		return dashed(bad[1]) + " is required"
	}
	return err
}

// dashed is a flag as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagsOf are the flags that a command takes: its own, and those of the commands that it is under.
func flagsOf(c *cli.Command) (names []string) {
	for _, in := range c.Lineage() {
		for _, f := range in.Flags {
			names = append(names, dashed(f.Names()[0]))
		}
	}
	return names
}

// isSwitch reports whether a flag of a command takes no value.
func isSwitch(c *cli.Command, name string) bool {
	for _, in := range c.Lineage() {
		for _, f := range in.Flags {
			if _, ok := f.(*cli.BoolFlag); ok && slices.Contains(f.Names(), name) {
				return true
			}
		}
	}
	return false
}

// refuseEmpty refuses flags without a value: left out, an unset variable of a script would widen a request.
func refuseEmpty(c *cli.Command) error {
	for _, f := range c.Flags {
		name := f.Names()[0]
		if _, ok := f.(*cli.StringFlag); ok && c.IsSet(name) && c.String(name) == "" {
			return exit.With(exit.Usage, "--%s is empty", name)
		}
	}
	return nil
}

// refuseWords refuses words behind flags: left out, "dead list acme" would be about all tenants.
func refuseWords(c *cli.Command) error {
	if !c.Args().Present() {
		return nil
	}
	return exit.With(exit.Usage, "%q: %s takes flags only; see %[2]s --help", answers.Safe(c.Args().First()), c.FullName())
}

// refuseNotLocal refuses flags that lead to another stack than --local does. A stack that the environment names is no
// contradiction: --local overrides it.
func refuseNotLocal(c *cli.Command) error {
	if !c.Bool("local") {
		return nil
	}
	for _, flag := range []string{"stack", "region", "profile"} {
		given := c.String(flag)
		own := given == "" || flag == "stack" && (given == stack.Local || given == os.Getenv("HERALD_STACK"))
		if !own {
			return exit.With(exit.Usage, "--local leads to %s on this machine, --%s %s to another stack: give one of them",
				stack.Local, flag, answers.Safe(given))
		}
	}
	return nil
}

// orUnknown is the action of a group. A group without a word behind it runs its own action, if it has one.
func orUnknown(alone cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		if alone != nil && !c.Args().Present() {
			return alone(ctx, c)
		}
		return unknown(ctx, c)
	}
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
	given := c.Args().First()
	return exit.With(exit.Usage, "%s: %q", invoke.NoSuch("command of "+c.FullName(), given, names), answers.Safe(given))
}
