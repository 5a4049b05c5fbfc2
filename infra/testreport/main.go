// Command testreport reads `go test -json` on standard input, prints failures in full and one
// line per package, and keeps the results so that "total" can sum up several runs:
//
//	go test -json ./... | testreport unit
//	testreport total
//
// It promises a non-zero exit status when a test failed, did not compile or was skipped:
// nothing is skipped silently. A test that ran twice counts once.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// dir keeps one file of results per run.
const dir = ".local/test"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: testreport NAME < go-test.json, or testreport total")
		os.Exit(2)
	}
	ok, err := run(os.Args[1], os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(name string, in io.Reader, out io.Writer) (ok bool, err error) {
	if name == "total" {
		return total(out)
	}
	r := newReport(out)
	if err := r.read(in); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s tests: %s\n", name, r.results)
	return r.results.ok(), save(name, r.results)
}

// results are outcomes by test: package and name, or the package alone when it failed outside
// its tests (it does not compile, or it crashed).
type results map[string]string

const (
	passed  = "pass"
	failed  = "fail"
	skipped = "skip"
)

func (r results) count(outcome string) (n int) {
	for _, got := range r {
		if got == outcome {
			n++
		}
	}
	return n
}

func (r results) ok() bool { return r.count(passed) == len(r) }

func (r results) String() string {
	s := fmt.Sprintf("%d passed, %d failed", r.count(passed), r.count(failed))
	if n := r.count(skipped); n > 0 {
		s += fmt.Sprintf(", %d skipped", n)
	}
	return s
}

// event is a line of test2json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

type report struct {
	out     io.Writer
	results results
	output  map[string]*strings.Builder // of tests that have not passed yet
	failing map[string]bool             // packages with a failed test
}

func newReport(out io.Writer) *report {
	return &report{out: out, results: results{}, output: map[string]*strings.Builder{}, failing: map[string]bool{}}
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading test results: %w", err)
		}
	}
}

func (r *report) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		fmt.Fprintf(r.out, "%s", line) // the go command's own words
		return
	}
	key := e.Package
	if e.Test != "" {
		key += " " + e.Test
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		r.keep(key, e)
	case passed, failed, skipped:
		r.end(key, e)
	}
}

func (r *report) keep(key string, e event) {
	b := r.output[key]
	if b == nil {
		b = &strings.Builder{}
		r.output[key] = b
	}
	b.WriteString(e.Output)
}

func (r *report) end(key string, e event) {
	text := r.output[key]
	delete(r.output, key)
	if e.Test != "" {
		r.results[key] = e.Action
	}
	switch {
	case e.Action != passed && e.Test != "":
		r.failing[e.Package] = r.failing[e.Package] || e.Action == failed
		if text != nil {
			fmt.Fprint(r.out, text)
		}
	case e.Test != "":
	case e.Action == failed && !r.failing[e.Package]: // outside its tests
		r.results[key] = failed
		if text != nil {
			fmt.Fprint(r.out, text)
		}
		fmt.Fprintf(r.out, "FAIL  %s\n", e.Package)
	case e.Action == failed:
		fmt.Fprintf(r.out, "FAIL  %s\n", e.Package)
	case e.Action == passed:
		fmt.Fprintf(r.out, "ok    %-70s %6.1f s\n", e.Package, e.Elapsed)
	}
}

func save(name string, r results) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding results: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("keeping results: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)+".json"), b, 0o600); err != nil {
		return fmt.Errorf("keeping results: %w", err)
	}
	return nil
}

// total sums up the unit and the emulator run and ends with one line of both. Tests without
// the build tag run in both and count with the unit tests.
func total(out io.Writer) (ok bool, err error) {
	unit, errUnit := load("unit")
	emulator, errEmulator := load("emulator")
	for test := range unit {
		if emulator[test] == passed {
			delete(emulator, test)
		}
	}
	if errUnit != nil || errEmulator != nil {
		fmt.Fprintln(out, "a run of tests is missing: see above")
	}
	fmt.Fprintf(out, "unit tests:     %s\nemulator tests: %s\n", unit, emulator)
	both := results{}
	for _, r := range []results{unit, emulator} {
		for test, outcome := range r {
			if both[test] != failed {
				both[test] = outcome
			}
		}
	}
	fmt.Fprintf(out, "%s\n", both)
	return both.ok() && errUnit == nil && errEmulator == nil, nil
}

func load(name string) (results, error) {
	file := filepath.Join(dir, name+".json")
	b, err := os.ReadFile(file) //nolint:gosec // a constant folder, one of two names
	if err != nil {
		return results{}, fmt.Errorf("reading results: %w", err)
	}
	r := results{}
	if err := json.Unmarshal(b, &r); err != nil {
		return results{}, fmt.Errorf("reading %s: %w", file, err)
	}
	return r, nil
}
