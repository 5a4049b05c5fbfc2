package main

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
)

// command makes a command that acts; its synopsis is its name and arguments.
func command(synopsis, usage string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
	name, arguments, _ := strings.Cut(synopsis, " ")
	return &cli.Command{Name: name, ArgsUsage: arguments, Usage: usage, Action: action, Flags: flags}
}

// group is a command with subcommands.
func group(name, about string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{Name: name, Usage: about, Commands: commands}
}

// unplanned are the commands that act, or let act, and have no plan to print.
var unplanned = []string{
	"herald jobs stop", "herald jobs resume", "herald keys issue", "herald keys revoke", "herald verify", "herald console",
}

// refuseDryRun refuses --dry-run where the command would act all the same.
func refuseDryRun(c *cli.Command) error {
	if c.Bool("dry-run") && slices.Contains(unplanned, c.FullName()) {
		return fail(exitUsage, "--dry-run: %s has no plan to print; nothing was done", c.FullName())
	}
	return nil
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

// on is an action on the stack of the command's flags, with the fields of a request that flags and argument set.
func (a *app) on(do func(ctx context.Context, c *cli.Command, s stack, f fields) error) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		f, err := a.fields(c)
		if err != nil {
			return err
		}
		s, err := a.connect(ctx, c)
		if err != nil {
			return err
		}
		return do(ctx, c, s, f)
	}
}

// one shows a function's answer.
func (a *app) one(function, action string) cli.ActionFunc {
	return a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error {
		return a.answer(ctx, c, s, function, action, f)
	})
}

// answer asks for one object and shows it.
func (a *app) answer(ctx context.Context, c *cli.Command, s stack, function, action string, f fields) error {
	answer, err := s.Ask(ctx, function, action, f)
	if err != nil {
		return err
	}
	a.printOne(c, answer)
	return nil
}

func (a *app) printOne(c *cli.Command, answer row) {
	if isJSON(c) {
		a.printJSON(answer)
	} else {
		a.show(answer)
	}
}

// list shows the columns of a function's list, up to --limit.
func (a *app) list(function, action string, columns ...string) cli.ActionFunc {
	return a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error {
		list, err := a.listed(ctx, c, s, function, action, f)
		if err == nil {
			a.printList(c, list, columns...)
		}
		return err
	})
}

// listed reads a list, and says if there is more than --limit.
func (a *app) listed(
	ctx context.Context, c *cli.Command, s stack, function, action string, f fields,
) (list row, err error) {
	hint := ""
	if action == "dead_letters" {
		console.OrDead(f)
		hint = "; herald status counts them by endpoint"
	}
	if list, err = s.all(ctx, function, action, f, c.Int("limit")); err != nil {
		return nil, refusedFlag(c, err)
	}
	if len(console.Rows(list)) == 0 && action != "endpoints" {
		err = a.missing(ctx, c, s, f)
	}
	if list["next_cursor"] != nil {
		a.say("there are more than %d: narrow the search, or raise --limit%s", c.Int("limit"), hint)
	}
	return list, err
}

func (a *app) printList(c *cli.Command, list row, columns ...string) {
	if note := cellOf(list, "note"); note != "" {
		a.say("note: %s", note)
	}
	rows := console.Rows(list)
	if len(rows) == 0 && !isJSON(c) {
		a.say("none")
		return
	}
	a.printRows(c, rows, rows, columns...)
}

// printRows prints the columns of rows, or as JSON the value that they are of.
func (a *app) printRows(c *cli.Command, value any, rows []row, columns ...string) {
	if isJSON(c) {
		a.printJSON(value)
	} else {
		a.table(rows, columns...)
	}
}

// The field of a request that a flag sets, and the one that a command's argument sets, by its name in the synopsis.
var (
	fieldOfFlag = map[string]string{
		"tenant": "tenant_id", "endpoint": "endpoint_id", "event": "event_id", "reason": "reason", "status": "status",
		"state": "state", "host": "host", "description": "description", "outcome": "outcome", "cursor": "cursor",
	}
	fieldOfArgument = map[string]string{
		"ENDPOINT": "endpoint_id", "TENANT": "tenant_id", "WH-ID": "delivery_id", "MESSAGE-ID": "message_id",
		"JOB-ID": "job_id", "KEY-ID": "key_id",
		"FILE": "file", // of herald import alone; no request has it
	}
)

// fields reads the flags that select or describe, and the argument of a command that has one.
func (a *app) fields(c *cli.Command) (fields, error) {
	f, err := a.times(c)
	if err != nil {
		return nil, err
	}
	for flag, field := range fieldOfFlag {
		if v := c.String(flag); v != "" {
			f[field] = v
		}
	}
	if field := fieldOfArgument[c.ArgsUsage]; field != "" {
		if f[field], err = argument(c); err != nil {
			return nil, err
		}
	}
	if name := cellOf(f, "endpoint_id"); name != "" {
		named, err := place(c, name)
		if err != nil {
			return nil, err
		}
		maps.Copy(f, named)
	}
	if c.Bool("path") {
		f["show_path"] = true
	}
	if scopes := c.StringSlice("scope"); len(scopes) > 0 {
		f["scopes"] = scopes
	}
	if path := c.String("event-file"); path != "" {
		f["event"], err = a.readEvent(path)
	}
	return f, err
}

// argument is a command's one argument.
func argument(c *cli.Command) (string, error) {
	if c.Args().Len() != 1 || c.Args().First() == "" {
		return "", fail(exitUsage, "give one argument, %s; see %s --help", strings.Trim(c.ArgsUsage, "[]"), c.FullName())
	}
	return c.Args().First(), nil
}

// place names an endpoint as an operator does: by its id, or by its tenant and its host or description. Without a
// name the tenant alone would be meant.
func place(c *cli.Command, name string) (fields, error) {
	tenant, given := c.String("tenant"), name
	if before, after, both := strings.Cut(name, "/"); both && (tenant == "" || tenant == before) {
		tenant, name = before, after
	}
	if name == "" {
		return nil, fail(exitUsage, "%q names no endpoint; see %s --help", given, c.FullName())
	}
	f := fields{"endpoint_id": name}
	if tenant != "" {
		f["tenant_id"] = tenant
	}
	return f, nil
}
