// Command hostile is a set of receivers that misbehave, for the test of any sender of webhooks. It starts them on
// loopback with certificates of a new authority, says how a safe sender treats each, watches the sender under test, and
// prints a table of the differences.
//
//	go run ./infra/proofs/hostile                         serves until it is interrupted, for a sender that is elsewhere
//	go run ./infra/proofs/hostile -exec 'COMMAND {urls}'  runs a sender for each case
//	go run ./infra/proofs/hostile -sender NAME            runs one of the senders that come with it
//
// It is for senders of one's own. It listens on loopback, for a bounded time, and each receiver writes a bounded number
// of bytes. It never sends a request itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		stop()
		os.Exit(1)
	}
}

// options choose the cases and the sender.
type options struct {
	exec, sender, write string
	match               *regexp.Regexp
	parallel            int
	within, serve       time.Duration
	beyond              bool
}

// run is the kit, or one of the senders that come with it when the first argument names one.
func run(ctx context.Context, args []string) error {
	if len(args) > 1 && args[0] == "post" {
		return post(ctx, args[1], args[2:])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.write != "" {
		return compare(ctx, o)
	}
	kit, err := start(o)
	if err != nil {
		return err
	}
	defer kit.end()
	if o.exec == "" && o.sender == "" {
		return kit.await(ctx, os.Stdout, o.serve)
	}
	command := o.exec
	if o.sender != "" {
		command, err = builtIn(o.sender)
		if err != nil {
			return err
		}
	}
	results, err := kit.play(ctx, command, o)
	if err != nil {
		return err
	}
	return printResults(os.Stdout, results)
}

// parse reads the flags.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.StringVar(&o.exec, "exec", "", "command of the sender, words with spaces between them and no quotes, in which\n"+
		"{ca}, {pause}, {urls}, {url} and {posts} are replaced; each line of its output is the status that it took,\n"+
		"0 for none")
	flags.StringVar(&o.sender, "sender", "", "sender that comes with the kit: "+names())
	flags.StringVar(&o.write, "write", "", "play all senders that come with the kit, and write this page's tables")
	match := flags.String("match", "", "regular expression: only the cases with such a name or family")
	flags.IntVar(&o.parallel, "parallel", 4, "senders at a time, with -exec and -sender")
	flags.DurationVar(&o.within, "within", 30*time.Second, "time after which a sender hangs; more than its own timeout")
	flags.DurationVar(&o.serve, "for", time.Hour, "how long to serve, without -exec and -sender")
	flags.BoolVar(&o.beyond, "beyond", false, "play the cases, too, in which an unsafe sender would leave this machine:\n"+
		"redirects to the metadata address of a cloud")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if o.exec != "" && o.sender != "" {
		return o, errors.New("-exec and -sender are two senders: choose one")
	}
	o.match, err = regexp.Compile(*match)
	if err != nil {
		return o, fmt.Errorf("-match: %w", err)
	}
	return o, o.bounded()
}

// bounded refuses numbers with which the kit would do nothing, or not end.
func (o options) bounded() error {
	if o.parallel < 1 || o.parallel > 16 {
		return fmt.Errorf("-parallel is from 1 to 16, not %d", o.parallel)
	}
	if o.within < time.Second || o.within > time.Hour {
		return fmt.Errorf("-within is from 1s to 1h, not %s", o.within)
	}
	if o.serve < time.Second || o.serve > day {
		return fmt.Errorf("-for is from 1s to 24h, not %s", o.serve)
	}
	return nil
}

const day = 24 * time.Hour

// chosen are the cases to play.
func (o options) chosen() (cases []receivers.Case) {
	for _, c := range receivers.Hostile {
		if c.Beyond && !o.beyond || c.Kind == receivers.Names {
			continue
		}
		if o.match.MatchString(c.Name) || o.match.MatchString(string(c.Kind)) {
			cases = append(cases, c)
		}
	}
	return cases
}
