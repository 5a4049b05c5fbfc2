// Command herald is the operator's tool: it looks at a stack, and acts on it, through the operator functions that the
// stack already has, so IAM decides about its caller's rights.
//
// It promises data on standard output and words on standard error, one exit code for each kind of end, no act without
// a question or --yes, and errors that say what to do next. It keeps nothing and knows no table: it shows answers of
// functions.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/herald/console"
	"github.com/herald-webhooks/herald/infra/internal/client"
)

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitUnhealthy = 3 // of status and verify; of acts: done in part
	exitDenied    = 4 // no credentials, expired ones, or no right
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args, terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// terminal is where a command reads and writes.
type terminal struct {
	in       io.Reader
	out, err io.Writer
}

// app is shared by the commands.
type app struct {
	terminal
	connect func(context.Context, *cli.Command) (stack, error)
	now     func() time.Time
	broken  error // of the output, the first: it ends the command when everything else is done
}

func run(ctx context.Context, args []string, t terminal) int {
	a := &app{terminal: t, connect: connect, now: time.Now}
	return a.end(a.root().Run(ctx, args))
}

// end says why a command failed, and how to go on.
func (a *app) end(err error) int {
	if a.broken != nil {
		fmt.Fprintln(a.err, "herald: writing the output:", a.broken)
		if err == nil {
			return exitFailed
		}
	}
	var failed *failure
	var refused *client.Refusal
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, "herald: interrupted; a function finishes work that it had begun")
		return exitFailed
	case errors.As(err, &failed):
		if failed.text != "" {
			fmt.Fprintln(a.err, "herald: "+err.Error())
		}
		return failed.code
	case errors.As(err, &refused):
		fmt.Fprintln(a.err, "herald: refused: "+safe(err.Error()))
		return codeOf(refused)
	}
	fmt.Fprintln(a.err, "herald: "+err.Error())
	return exitFailed
}

// codeOf is the exit code of a refusal.
func codeOf(refused *client.Refusal) int {
	switch refused.Code {
	case "invalid_field", "unknown_field", "invalid_json", "unknown_action", "invalid_cursor":
		return exitUsage
	}
	return exitFailed
}

// failure is an error with an exit code.
type failure struct {
	code int
	text string // "" where everything has been said
}

func (f *failure) Error() string { return f.text }

// Is tells the console of a denial.
func (f *failure) Is(target error) bool { return target == console.ErrDenied && f.code == exitDenied }

func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}
