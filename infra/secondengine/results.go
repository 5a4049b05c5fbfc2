package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/go-json-experiment/json"
)

// results are the outcomes of cases, pass, fail or skip, by package and name.
type results map[string]string

// module is cut off the names of packages.
const module = "github.com/herald-webhooks/herald/"

// runTests runs the packages' tests, with additions to the environment. What they say is kept in a file.
func runTests(ctx context.Context, packages []string, log string, environment ...string) (results, error) {
	arguments := append([]string{"test", "-json", "-count=1", "-tags=emulator", "-timeout=15m"}, packages...)
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // the user's own arguments
	cmd.Env = append(os.Environ(), environment...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	failed := cmd.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) || ctx.Err() != nil {
		return nil, fmt.Errorf("running the tests: %w", errors.Join(failed, ctx.Err()))
	}
	said, err := os.Create(log) //nolint:gosec // below .local
	if err != nil {
		return nil, fmt.Errorf("making log: %w", err)
	}
	found, err := read(&out, said)
	if err := errors.Join(err, said.Close()); err != nil {
		return nil, err
	}
	return found, nil
}

// read reads the events of go test, and writes what the tests said.
func read(events io.Reader, said io.Writer) (results, error) {
	all := results{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Action, Package, Test, Output string
		}
		if err := json.Unmarshal(lines.Bytes(), &event, json.MatchCaseInsensitiveNames(false)); err != nil {
			return nil, fmt.Errorf("reading the results: %w", err)
		}
		switch event.Action {
		case "output":
			if _, err := io.WriteString(said, event.Output); err != nil {
				return nil, fmt.Errorf("writing log: %w", err)
			}
		case "pass", "fail", "skip":
			all[strings.TrimPrefix(event.Package, module)+" "+event.Test] = event.Action
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	return all.cases(), nil
}

// cases are the results without those that only sum up others: of packages and of tests with subtests.
func (r results) cases() results {
	sums := map[string]bool{}
	for name := range r {
		pkg, test, _ := strings.Cut(name, " ")
		sums[pkg+" "] = sums[pkg+" "] || test != ""
		if at := strings.LastIndexByte(test, '/'); at > 0 {
			sums[pkg+" "+test[:at]] = true
		}
	}
	leaves := results{}
	for name, outcome := range r {
		if !sums[name] {
			leaves[name] = outcome
		}
	}
	return leaves
}
