package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// result is what a command showed, as its file has it.
type result struct {
	Says    string        `json:"says"` // a passage of a table
	Failed  bool          `json:"failed,omitempty"`
	Command string        `json:"command,omitempty"`
	Each    time.Duration `json:"each_ns,omitempty"` // of its searches
	Time    time.Time     `json:"time,omitzero"`
	Commit  string        `json:"commit,omitempty"`
}

// runner plays proofs at one commit, and keeps their results in a folder of that commit.
type runner struct {
	folder string
	commit string
	each   time.Duration
	now    func() time.Time
	// state is the commit and what differs from it. Results are kept only where nothing does.
	state func(context.Context) (commit, changes string, err error)
}

var unsafe = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// file is the path of a proof's file with an ending.
func (r runner) file(p proof, ending string) string {
	return filepath.Join(r.folder, strings.Trim(unsafe.ReplaceAllString(p.command, "-"), "-")+ending)
}

// known is the result of a proof that needs no run: it is in its file, or this machine cannot make it. A search that
// was longer serves for a shorter one.
func (r runner) known(p proof) (known result, found bool, err error) {
	if p.kept != nil {
		return *p.kept, true, nil
	}
	text, err := os.ReadFile(r.file(p, ".json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return known, false, nil
	case err != nil:
		return known, false, fmt.Errorf("reading an earlier result: %w", err)
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return known, false, fmt.Errorf("reading an earlier result: %w", err)
	}
	return known, p.searches == 0 || known.Each >= r.each, nil
}

// earlier is the newest result of a proof at any other commit, "not run" without one.
func (r runner) earlier(p proof) (newest result, err error) {
	newest.Says = "not run"
	files, err := filepath.Glob(filepath.Join(filepath.Dir(r.folder), "*", filepath.Base(r.file(p, ".json"))))
	if err != nil {
		return newest, fmt.Errorf("finding earlier results: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // of the folder with results
		if err != nil {
			return newest, fmt.Errorf("reading an earlier result: %w", err)
		}
		var found result
		if err := json.Unmarshal(text, &found); err != nil {
			return newest, fmt.Errorf("reading an earlier result: %w", err)
		}
		if found.Time.After(newest.Time) {
			newest = found
		}
	}
	return newest, nil
}

// prove runs a proof and keeps its result. A result of a work tree that differs from its commit would say nothing about
// the commit: it is shown, and not kept.
func (r runner) prove(ctx context.Context, p proof) (result, error) {
	if program := missing(p.needs); program != "" {
		return result{Says: "not run: " + program + " is missing"}, nil
	}
	made, tried, err := r.play(ctx, p)
	if err != nil || !tried {
		return made, err
	}
	commit, changes, err := r.state(ctx)
	switch {
	case err != nil:
		return made, err
	case commit != r.commit:
		return made, fmt.Errorf("the work tree went from commit %s to %s during the run", r.commit, commit)
	case changes != "":
		made.Commit += " and changes"
		return made, nil
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return made, fmt.Errorf("encoding the result: %w", err)
	}
	return made, os.WriteFile(r.file(p, ".json"), append(text, '\n'), 0o600)
}

// missing is the first program that this machine lacks, "" if it has all.
func missing(programs []string) string {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// play runs the command. Whatever stops it but its own end and its bound is no result.
func (r runner) play(ctx context.Context, p proof) (made result, tried bool, err error) {
	log, err := os.Create(r.file(p, ".log"))
	if err != nil {
		return made, false, fmt.Errorf("keeping the output: %w", err)
	}
	defer log.Close()
	bounded, cancel := context.WithTimeout(ctx, p.limit(r.each))
	defer cancel()
	cmd := exec.CommandContext(bounded, "bash", "-ec", p.with(r.each)) //nolint:gosec // commands of this package
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = withoutMake(os.Environ())
	began := r.now()
	failure := child.Run(bounded, cmd)
	if ctx.Err() != nil {
		return made, false, ctx.Err()
	}
	text, err := os.ReadFile(log.Name())
	if err != nil {
		return made, false, fmt.Errorf("reading the output: %w", err)
	}
	took := short(r.now().Sub(began))
	made = result{Command: p.with(r.each), Each: r.each, Time: r.now(), Commit: r.commit}
	switch {
	case failure == nil:
		made.Says, made.Failed = p.succeeded(text, took)
	case p.absent != nil && p.absent.Match(text):
		return result{Says: "not run: " + string(p.absent.Find(text))}, false, nil
	case bounded.Err() != nil:
		made.Failed, made.Says = true, "**ended** after "+took
	default:
		made.Failed, made.Says = true, "**failed** after "+took
	}
	return made, true, nil
}

// succeeded is what a command shows that has ended well, with the last figure of its output. Without a figure that it
// should print, it may have tried nothing.
func (p proof) succeeded(output []byte, took string) (says string, failed bool) {
	if p.figure == nil {
		return "holds: " + took, false
	}
	found := p.figure.FindAll(output, -1)
	if len(found) == 0 {
		return "**no figure** after " + took, true
	}
	last := strings.Join(strings.Fields(string(found[len(found)-1])), " ")
	return "holds: " + last + ", " + took, false
}

// withoutMake leaves out the variables that make passes on to each make below it. A proof must run as if nobody's make
// had started it.
func withoutMake(environ []string) (kept []string) {
	for _, variable := range environ {
		if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") {
			kept = append(kept, variable)
		}
	}
	return kept
}
