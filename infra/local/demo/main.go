// Command demo is `make run`: it starts the local stack and shows Herald at work, then keeps the stack up for the
// reader's own commands. The end-to-end tests run it on another stack.
//
// It promises that it observed everything it prints over the public interfaces (HTTP API, events queue, Invoke API, an
// HTTPS receiver), and that it exits 0 only if all of it held. It never reaches into the functions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	local "github.com/herald-webhooks/herald/infra/local/stack"
)

func main() {
	os.Exit(run())
}

type options struct {
	state string // the state file of a stack that is up; empty: start one
	once  bool   // end after the demonstration
	draw  string // the file that gets a picture of the stack's dashboard; empty: none
}

func run() int {
	var o options
	flag.StringVar(&o.state, "state", "", "the state file of a running stack to use; ends after the demonstration")
	flag.BoolVar(&o.once, "once", os.Getenv("ONCE") == "1", "end after the demonstration (or ONCE=1)")
	flag.StringVar(&o.draw, "draw", "", "the file that gets a picture of the stack's dashboard")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ok, err := demonstrate(ctx, o)
	switch {
	case ctx.Err() != nil && (ok || !o.once):
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	case !ok:
		return 1
	}
	return 0
}

func demonstrate(ctx context.Context, o options) (ok bool, err error) {
	if o.state != "" {
		state, err := statefile.Read(o.state)
		if err != nil {
			return false, err
		}
		d, err := open(state)
		if err != nil {
			return false, err
		}
		return d.play(ctx)
	}
	began := time.Now()
	fmt.Println("Starting the local stack …")
	running, err := local.Start(ctx, local.Options{APIPort: os.Getenv("API_PORT"), AWSPort: os.Getenv("AWS_PORT")})
	if err != nil {
		return false, err
	}
	defer running.Close()
	d, err := open(running.State)
	if err != nil {
		return false, err
	}
	fmt.Printf("Ready after %s: API %s, AWS %s\n", seconds(time.Since(began)), d.client.APIURL, d.client.AWSEndpointURL)
	if o.draw != "" {
		return d.draw(ctx, o.draw)
	}
	ok, err = d.play(ctx)
	if err != nil || o.once {
		return ok, err
	}
	d.events, err = d.register(ctx, d.client, "samples", "*")
	if err != nil { // for the README's event, too
		return false, err
	}
	d.shown = 0
	heading("The stack stays up until Ctrl-C, and this terminal shows deliveries. In another terminal, from this folder:")
	fmt.Printf("\n%s%s\n", missingCLI(), d.events.Tenant.Commands())
	end, err := openConsole(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	defer d.openSettings(ctx)()
	return ok, d.watch(ctx, running)
}

// open prepares a demonstration on a running stack. Its receiver ends with the program.
func open(state statefile.State) (*demo, error) {
	server, err := receiver.Start(state.ReceiverCertFile, state.ReceiverKeyFile)
	return &demo{client: client.New(state), server: server}, err
}

// play shows the scenes in order and sums them up. A scene that cannot go on is an error.
func (d *demo) play(ctx context.Context) (bool, error) {
	for _, scene := range []func(context.Context) error{
		d.listen, d.everyEvent, d.recovery, d.doom, d.circuit, d.death, d.owner,
	} {
		if err := scene(ctx); err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			d.check(false, "%v", err)
			break
		}
	}
	return d.summary(), nil
}
