// Command mutants changes one operator at a time in the packages that are pure and reports the
// changes that no test of the same package notices:
//
//	go run ./infra/mutants [-gremlins program] [-explained file] [package ...]
//
// The changes and most of the runs are those of gremlins. Go's coverage has no counter for the
// conditions of a case clause nor for what stands outside functions, so gremlins takes what is
// there for untested: those changes are run here. It exits with status 1 where a package has
// fewer than 95 of 100 changes covered, or fewer than 95 of 100 covered ones noticed. A
// survivor that is explained in infra/mutants/explained.txt does not count; an explanation
// that no survivor needs any more is a fault too.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// pure are the packages below internal/ without I/O, whose own tests have to be enough: depguard's
// field list in .golangci.yml, to which a test holds them.
var pure = []string{
	"apikey",
	"backlog",
	"badjson",
	"cursor",
	"deadletter",
	"delivery",
	"endpoint",
	"event",
	"health",
	"problem",
	"retry",
	"signature",
}

// least is the share of changes in % that have to be covered, and of those the noticed ones.
const least = 95

func main() {
	gremlins := flag.String("gremlins", ".tools/bin/gremlins", "the program that makes and tests most changes")
	explained := flag.String("explained", "infra/mutants/explained.txt", "survivors that may be")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = pure
	}
	ok, err := run(context.Background(), *gremlins, *explained, packages)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context, gremlins, explained string, packages []string) (ok bool, err error) {
	for _, name := range packages {
		if !slices.Contains(pure, name) {
			return false, fmt.Errorf("%s is not one of the pure packages: %s", name, strings.Join(pure, ", "))
		}
	}
	gremlins, err = filepath.Abs(gremlins)
	if err != nil {
		return false, fmt.Errorf("finding gremlins: %w", err)
	}
	text, err := os.ReadFile(explained)
	if err != nil {
		return false, fmt.Errorf("reading explanations: %w", err)
	}
	known, err := parseExplanations(string(text))
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", explained, err)
	}
	module, err := copied()
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(module) //nolint:errcheck // a temporary folder
	tester := tester{gremlins: gremlins, module: module}
	var results []result
	for _, name := range packages {
		fmt.Fprintf(os.Stderr, "mutants: %s\n", name)
		mutants, err := tester.test(ctx, name)
		if err != nil {
			return false, fmt.Errorf("package %s: %w", name, err)
		}
		results = append(results, sumUp(name, mutants, known))
	}
	return report(os.Stdout, results)
}

// copied makes a copy of what the tests of the pure packages need. Gremlins copies its working
// folder once more for each of its workers: all of a checkout would be gigabytes.
func copied() (string, error) {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return "", fmt.Errorf("making a copy: %w", err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("not at the root of the module: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", fmt.Errorf("making a copy: %w", err)
		}
	}
	if err := os.CopyFS(filepath.Join(folder, "internal"), os.DirFS("internal")); err != nil {
		return "", fmt.Errorf("making a copy: %w", err)
	}
	return folder, nil
}

// tester tests the changes to packages of a copy of the module.
type tester struct {
	gremlins string // path of the program
	module   string // folder of the copy
}

// test returns what became of every change to a package.
func (t tester) test(ctx context.Context, name string) ([]mutant, error) {
	out := filepath.Join(t.module, name+".json") // which gremlins does not write if it finds nothing to change
	cmd := exec.CommandContext(ctx, t.gremlins, "unleash", "--timeout-coefficient", "20", "-o", out, "./internal/"+name)
	cmd.Dir = t.module
	if words, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("running gremlins: %w\n%s", err, words)
	}
	text, err := os.ReadFile(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	var found gremlinsReport
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	folder := filepath.Join(t.module, "internal", name)
	var mutants []mutant
	for _, file := range found.Files {
		more, err := t.locate(ctx, folder, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		mutants = append(mutants, more...)
	}
	return mutants, nil
}

// locate finds the changes of one file in its source and runs those that gremlins could not.
func (t tester) locate(ctx context.Context, folder string, file gremlinsFile) ([]mutant, error) {
	path := filepath.Join(folder, filepath.Base(file.Name))
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	src, err := parse(path, text)
	if err != nil {
		return nil, err
	}
	var mutants []mutant
	for _, m := range file.Mutations {
		found, counted := src.find(m)
		found.where = fmt.Sprintf("%s/%s:%d", filepath.Base(folder), filepath.Base(path), m.Line)
		if found.status == notCovered && !counted {
			if found.status, err = t.try(ctx, path, text, found); err != nil {
				return nil, err
			}
		}
		mutants = append(mutants, found)
	}
	return mutants, nil
}

// try makes one change, runs the tests of the package and takes the change back.
func (t tester) try(ctx context.Context, path string, text []byte, m mutant) (status string, err error) {
	if err := os.WriteFile(path, m.changed(text), 0o600); err != nil {
		return "", fmt.Errorf("changing the copy: %w", err)
	}
	defer func() {
		if undo := os.WriteFile(path, text, 0o600); undo != nil {
			err = fmt.Errorf("taking a change back: %w", undo)
		}
	}()
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-failfast", "-timeout", "2m", ".")
	cmd.Dir = filepath.Dir(path)
	words, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return lived, nil
	case bytes.Contains(words, []byte("[build failed]")):
		return notViable, nil
	default:
		return killed, nil
	}
}

// report prints the table, and below it what lived and what is explained without need.
func report(out io.Writer, results []result) (ok bool, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "package\tkilled\tlived\tnot covered\texplained\tkilled of covered, %\tcovered, %\t")
	ok = true
	for _, r := range results {
		ok = ok && r.good()
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t\n",
			r.name, r.killed, len(r.lived), len(r.notCovered), r.explained, r.efficacy(), r.coverage())
	}
	if err := table.Flush(); err != nil {
		return false, fmt.Errorf("printing the table: %w", err)
	}
	for _, r := range results {
		for _, m := range slices.Concat(r.lived, r.notCovered) {
			fmt.Fprintf(out, "%s: %s: %s\n", m.where, m.status, m.key(r.name))
		}
		for _, key := range r.idle {
			fmt.Fprintf(out, "explained, but no longer alive: %s\n", key)
		}
	}
	return ok, nil
}
