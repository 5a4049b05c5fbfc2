// Command herald is the operator's tool: it looks at a stack, and acts on it, through the operator functions that the
// stack already has, so IAM decides about its caller's rights.
//
// This file wires its rooms: commands reads a line and shows its result, stack is the client of the functions, and
// console is the page.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	on := &terminal.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: time.Now, Asks: isTerminal(os.Stdin)}
	code := commands.Run(ctx, os.Args, on, stack.Connect)
	stop()
	os.Exit(code)
}

// isTerminal reports whether a file is a device, as a terminal is. The other device that is common, /dev/null, is a
// terminal that has ended.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
