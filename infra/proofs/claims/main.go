// Command claims runs what proves Herald's claims, one command after the other, and prints a table of the results:
//
//	go run ./infra/proofs/claims [-for 1m] [-only 'make mutants'] [-write]
//
// It keeps each result below .local/proofs, by the commit, and does not run again what has its result there, unless a
// search is to take longer. Results of a work tree that differs from its commit are shown and not kept. It promises to
// end each command, with all that it started, after a bounded time. It proves nothing by itself.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "claims:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("claims", flag.ContinueOnError)
	each := flags.Duration("for", time.Minute, "time of each search")
	only := flags.String("only", "", "regular expression: run only the commands that it matches")
	keep := flags.Bool("write", false, "write the table into "+page)
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if !slices.ContainsFunc(proofs, func(p proof) bool { return chosen.MatchString(p.with(*each)) }) {
		return fmt.Errorf("-only %s: no command matches", *only)
	}
	if *each < time.Second {
		return fmt.Errorf("-for is a second or more, not %s", *each)
	}
	root, err := tools.Root()
	if err != nil {
		return err
	}
	r, err := at(ctx, root, *each)
	if err != nil {
		return err
	}
	began := time.Now()
	rows, failure := r.rows(ctx, proofs, chosen)
	if ctx.Err() != nil {
		return failure
	}
	fmt.Fprintln(os.Stderr, "all in", short(time.Since(began).Round(time.Second)))
	fmt.Fprint(os.Stdout, "\n"+table(rows))
	if *keep {
		failure = errors.Join(failure, write(filepath.Join(root, page), table(rows)))
	}
	return failure
}

// at is a runner of the checkout's commit.
func at(ctx context.Context, root string, each time.Duration) (runner, error) {
	if err := os.Chdir(root); err != nil {
		return runner{}, err
	}
	commit, _, err := state(ctx)
	if err != nil {
		return runner{}, err
	}
	now := func() time.Time { return time.Now().UTC().Truncate(time.Second) }
	r := runner{folder: filepath.Join(".local", "proofs", commit), commit: commit, each: each, now: now, state: state}
	return r, os.MkdirAll(r.folder, 0o700)
}

// state asks git. The page itself may differ, since an earlier run has written its table.
func state(ctx context.Context) (commit, changes string, err error) {
	commit, err = git(ctx, "rev-parse", "--short=8", "HEAD")
	if err != nil {
		return "", "", err
	}
	changes, err = git(ctx, "status", "--porcelain", "--", ".", ":!"+page)
	return commit, changes, err
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output() //nolint:gosec // arguments of this package
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// rows has a row for each claim of each proof. What is not chosen shows its last result, at whichever commit.
func (r runner) rows(ctx context.Context, all []proof, chosen *regexp.Regexp) (rows []row, failure error) {
	for _, p := range all {
		command := p.with(r.each)
		made, found, err := r.known(p)
		switch {
		case err != nil || found:
		case chosen.MatchString(command):
			fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), command)
			made, err = r.prove(ctx, p)
		default:
			made, err = r.earlier(p)
		}
		if err != nil {
			return rows, fmt.Errorf("%s: %w", command, err)
		}
		if made.Failed {
			failure = errors.Join(failure, fmt.Errorf("%s: see %s", command, r.file(p, ".log")))
		}
		for _, claim := range p.claims {
			rows = append(rows, row{claim, cmp.Or(made.Command, command), made})
		}
	}
	return rows, failure
}
