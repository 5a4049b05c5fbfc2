// Command testreport reads `go test -json` on standard input, prints one line per package and what
// failed in full, and keeps the results so that "total" can sum up several runs:
//
//	go test -json ./... | testreport unit
//	testreport total
//
// It promises a non-zero exit status when a test failed, did not compile or was skipped: nothing
// is skipped silently. A test that ran twice counts once. A failed package is named with the
// command that runs its tests in the same random order again, and a data race by that name.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	r.results.printBad(out)
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

// printBad names the tests that did not pass.
func (r results) printBad(out io.Writer) {
	for _, test := range slices.Sorted(maps.Keys(r)) {
		if r[test] != passed {
			fmt.Fprintf(out, "%s: %s\n", r[test], test)
		}
	}
}

func (r results) String() string {
	s := fmt.Sprintf("%d passed, %d failed", r.count(passed), r.count(failed))
	if n := r.count(skipped); n > 0 {
		s += fmt.Sprintf(", %d skipped", n)
	}
	return s
}

// event is a line of test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type report struct {
	out      io.Writer
	results  results
	output   map[string]*strings.Builder // of tests and packages that have not ended yet
	failing  map[string]bool             // packages with a failed test
	shuffled map[string]string           // by package, the seed of its order
}

func newReport(out io.Writer) *report {
	return &report{
		out: out, results: results{}, output: map[string]*strings.Builder{},
		failing: map[string]bool{}, shuffled: map[string]string{},
	}
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

// keep takes over a line of output unless it says nothing about a failure.
func (r *report) keep(key string, e event) {
	if seed, ok := strings.CutPrefix(e.Output, "-test.shuffle "); ok {
		r.shuffled[e.Package] = strings.TrimSpace(seed)
		return
	}
	if strings.HasPrefix(e.Output, "=== ") || (e.Test == "" && closing.MatchString(e.Output)) {
		return
	}
	b := r.output[key]
	if b == nil {
		b = &strings.Builder{}
		r.output[key] = b
	}
	b.WriteString(e.Output)
}

// closing matches what the go command says at the end of every package.
var closing = regexp.MustCompile(`^(PASS|FAIL|ok|coverage:|FAIL\t.*|ok\s.*|exit status 1)\s*$`)

func (r *report) end(key string, e event) {
	text := ""
	if b := r.output[key]; b != nil {
		text = b.String()
		delete(r.output, key)
	}
	if e.Test != "" {
		r.endTest(key, e, text)
		return
	}
	switch e.Action {
	case passed:
		fmt.Fprintf(r.out, "ok    %-70s %6.1f s\n", e.Package, e.Elapsed)
	case failed:
		if !r.failing[e.Package] { // it failed outside its tests
			r.results[key] = failed
		}
		r.print("FAIL  "+e.Package, text)
		if seed := r.shuffled[e.Package]; seed != "" {
			fmt.Fprintf(r.out, "      in this order again: go test -shuffle=%s %s\n", seed, e.Package)
		}
	}
}

func (r *report) endTest(key string, e event, text string) {
	r.results[key] = e.Action
	if e.Action == passed {
		return
	}
	r.failing[e.Package] = r.failing[e.Package] || e.Action == failed
	r.print(strings.ToUpper(e.Action)+"  "+key, text)
}

// print writes a heading and below it, indented, what was kept of the output.
func (r *report) print(heading, text string) {
	if strings.Contains(text, "WARNING: DATA RACE") {
		heading += " (data race)"
	}
	fmt.Fprintln(r.out, heading)
	for line := range strings.Lines(text) {
		fmt.Fprint(r.out, "    "+strings.TrimRight(line, "\n")+"\n")
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
	unit.printBad(out)
	emulator.printBad(out)
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
