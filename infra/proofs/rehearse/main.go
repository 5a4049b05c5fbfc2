// Package main rehearses the first deployment of a packaged version. It runs deploy.md's own commands against an engine
// that executes CloudFormation's change sets with the SAM transform. It then has the stack deliver an event, and tries
// the usual mistakes of a first deployment.
//
// It promises to listen and to call on loopback only, and to print every command that it leaves out, replaces or
// reduces. It fails if the stack lacks a resource, a variable or a mapping of the template. It proves nothing about the
// parts of AWS that it lists as unknown to the engine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// limit is far more than a rehearsal takes, most of which are the starts of Python programs.
const limit = 15 * time.Minute

// stack is the name in deploy.md's commands.
const stack = "herald-prod"

// unknown lists the parts of AWS that the engine lacks. Only AWS can show that they work.
var unknown = []string{
	"routes of the HTTP API: the endpoint is created by an event of API Gateway's, sent to webhooks",
	"what CloudFormation objects to in a change set",
	"IAM: every call is allowed",
	"policies of keys and queues: neither is enforced",
	"CodeDeploy, and updates and deletions of stacks: they are not rehearsed",
	"metric math of alarms, saved queries and functions' policies: they are reduced as shown",
	"arm64: each archive holds the function's build for this machine, after a look at the packaged one",
}

func main() {
	folder := flag.String("package", ".local/package", "what make package wrote")
	functions := flag.String("functions", ".local/functions", "the builds of the functions for this machine")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, limit)
	err := rehearse(ctx, *folder, *functions, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rehearse:", err)
		os.Exit(1)
	}
}

func rehearse(ctx context.Context, source, functions string, log io.Writer) (err error) {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	document, err := os.ReadFile(filepath.Join(root, "infra", "docs", "deploy.md")) //nolint:gosec // the checkout's
	if err != nil {
		return fmt.Errorf("reading the commands: %w", err)
	}
	work, err := os.MkdirTemp("", "herald-rehearsal-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	name, err := folderName(string(document))
	if err != nil {
		return err
	}
	template := filepath.Join(work, name, "template.yaml")
	if err := stage(source, functions, filepath.Join(work, name)); err != nil {
		return err
	}
	reduced, err := reduceFile(ctx, template)
	if err != nil {
		return err
	}
	commands, err := script(string(document))
	if err != nil {
		return err
	}
	tell(log, "what was reduced in the template:\n%s", reduced)
	tell(log, "run before deploy.md's commands:\n%s", prepared)
	return play(ctx, root, work, template, commands, log)
}

// play starts a receiver and the engine, deploys, compares and delivers.
func play(ctx context.Context, root, work, template, commands string, log io.Writer) error {
	authority, err := pki.New("Herald's rehearsal")
	if err != nil {
		return fmt.Errorf("making certificates: %w", err)
	}
	files, err := authority.Write(filepath.Join(work, "certificates"), pki.Leaf{})
	if err != nil {
		return err
	}
	server, err := receiver.Start(files.Cert, files.Key)
	if err != nil {
		return err
	}
	defer server.Close() //nolint:errcheck // the rehearsal is over
	e, err := startEngine(ctx, root, work, files.CA)
	if err != nil {
		return err
	}
	defer e.process.Kill()
	printed, err := deploy(ctx, e, work, commands, log)
	if err != nil {
		return fmt.Errorf("%w; the engine's last line: %s", err, child.LastLine(e.log))
	}
	made, err := compareStack(ctx, e, template, log)
	if err != nil {
		return err
	}
	key := issued.FindStringSubmatch(printed)
	if key == nil {
		return errors.New("deploy.md's commands issued no key")
	}
	got, err := deliver(ctx, e, made, key[1], server.Inbox("/rehearsal"))
	if err != nil {
		return fmt.Errorf("%w; the engine's last line: %s", err, child.LastLine(e.log))
	}
	tell(log, "delivered %s as %s, verified and answered %d", got.Event, got.ID, got.Status)
	if err := meet(ctx, e, work, badDays, log); err != nil {
		return err
	}
	for _, what := range unknown {
		tell(log, "not shown, as the engine does not do it: %s", what)
	}
	return nil
}

func compareStack(ctx context.Context, e *engine, template string, log io.Writer) (*deployed, error) {
	made, parameters, err := look(ctx, e, stack)
	if err != nil {
		return nil, err
	}
	want, err := expected(ctx, e.root, template, parameters)
	if err != nil {
		return nil, err
	}
	faults, err := made.compare(ctx, e, want)
	if err != nil {
		return nil, err
	}
	for _, fault := range faults {
		tell(log, "fault: %s", fault)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("the stack differs from its template in %d places", len(faults))
	}
	tell(log, "the stack has all %d resources, with every variable and mapping", len(want.Resources))
	return made, nil
}

// tell prints a line about the rehearsal.
func tell(log io.Writer, format string, values ...any) {
	_, _ = fmt.Fprintf(log, "rehearse: "+format+"\n", values...) // progress only: the exit code has the result
}
