package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sameMutant = cmp.AllowUnexported(mutant{}, result{})

const source = `package p

import "time"

const wait = 2 * time.Minute

type box struct{}

func (b *box) f(n int) (k int) {
	if n > 1 {
		n++
	}
	switch {
	case n == 3, n <
		4:
		return -n
	}
	return k
}

var literal = func(a, b int) int { return a - b }
`

// at is the place of the only occurrence of an operator in the source, past the words before.
func at(t *testing.T, kind, before, operator string) mutation {
	t.Helper()
	i := strings.Index(source, before)
	if i < 0 {
		t.Fatalf("the source has no %q", before)
	}
	i += len(before) + strings.Index(source[i+len(before):], operator)
	line := strings.Count(source[:i], "\n") + 1
	return mutation{Type: kind, Status: notCovered, Line: line, Column: i - strings.LastIndex(source[:i], "\n")}
}

func TestFile_find(t *testing.T) {
	src, err := parse("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		Key, Changed string
		Counted      bool
	}
	for name, row := range map[string]struct {
		change mutation
		want   found
	}{
		"a constant has no counter": {
			at(t, "ARITHMETIC_BASE", "wait = 2 ", "*"),
			found{"p ARITHMETIC_BASE 2 * time.Minute", "2 / time.Minute", false},
		},
		"a condition has one, and its method is named": {
			at(t, "CONDITIONALS_BOUNDARY", "if n ", ">"),
			found{"p box.f CONDITIONALS_BOUNDARY n > 1", "n >= 1", true},
		},
		"a case clause has none": {
			at(t, "CONDITIONALS_NEGATION", "case n ", "=="),
			found{"p box.f CONDITIONALS_NEGATION n == 3", "n != 3", false},
		},
		"an expression over two lines is one line": {
			at(t, "CONDITIONALS_NEGATION", "n == 3, n ", "<"),
			found{"p box.f CONDITIONALS_NEGATION n < 4", "n >=\n\t\t4", false},
		},
		"what a case clause does has a counter": {
			at(t, "INVERT_NEGATIVES", "return ", "-"),
			found{"p box.f INVERT_NEGATIVES -n", "return +n", true},
		},
		"so has a literal outside functions": {
			at(t, "ARITHMETIC_BASE", "return a ", "-"),
			found{"p ARITHMETIC_BASE a - b", "return a + b", true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, counted := src.find(row.change)
			got := found{Key: m.key("p"), Counted: counted}
			if changed := string(m.changed([]byte(source))); strings.Contains(changed, row.want.Changed) {
				got.Changed = row.want.Changed
			} else {
				got.Changed = changed
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTester_try runs the go command on a module of three files.
func TestTester_try(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "p.go")
	const code = "package p\n\nfunc f(n int) bool { return n > 1 }\n\nfunc g(n int) bool { return n > 1 }\n"
	for name, text := range map[string]string{
		"go.mod": "module p\n\ngo 1.26\n", "p.go": code,
		"p_test.go": "package p\n\nimport \"testing\"\n\n" +
			"func TestF(t *testing.T) {\n\tif f(1) || !f(2) {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := parse(path, []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change mutation
		want   string
	}{
		"a change that a test notices":   {mutation{Type: "CONDITIONALS_BOUNDARY", Line: 3, Column: 31}, killed},
		"a change that none notices":     {mutation{Type: "CONDITIONALS_BOUNDARY", Line: 5, Column: 31}, lived},
		"a change that does not compile": {mutation{Type: "unknown: the operator goes", Line: 3, Column: 31}, notViable},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := src.find(row.change)
			got, err := tester{}.try(t.Context(), path, []byte(code), m)
			if err != nil {
				t.Fatal(err)
			}
			if got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(code, string(text)); diff != "" {
				t.Errorf("the change was not taken back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRun_refusesWhatIsNotPure(t *testing.T) {
	_, err := run(t.Context(), "no gremlins", "explained.txt", []string{"event", "egress"})
	want := "egress is not one of the pure packages: " + strings.Join(pure, ", ")
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestParseExplanations(t *testing.T) {
	got, err := parseExplanations("# for people\n\nretry f X a  <  b\n    It is\n\tthe same.\nevent g Y c\n  Really.\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"retry f X a < b": "It is the same. ", "event g Y c": "Really. "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanations (-want +got):\n%s", diff)
	}
}

func TestParseExplanations_refuses(t *testing.T) {
	for name, text := range map[string]string{
		"a survivor without reason": "retry f X a < b\nevent g Y c\n  Really.\n",
		"a reason for nothing":      "  Really.\n",
		"a survivor named twice":    "event g Y c\n  Really.\nevent g Y c\n  Really.\n",
	} {
		if got, err := parseExplanations(text); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestExplained reads the file that the command reads.
func TestExplained(t *testing.T) {
	text, err := os.ReadFile("explained.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseExplanations(string(text)); err != nil {
		t.Error(err)
	}
}

func TestSumUp(t *testing.T) {
	alive := mutant{function: "f", kind: "X", expression: "a < b", status: lived}
	uncovered := mutant{function: "g", kind: "X", expression: "a < b", status: notCovered}
	mutants := []mutant{
		alive, uncovered, {status: killed}, {status: timedOut}, {status: notViable},
		{function: "h", kind: "X", expression: "c", status: lived},
		{function: "h", kind: "X", expression: "d", status: notCovered},
	}
	reasons := map[string]string{"p h X c": "same", "p h X d": "same", "p h X gone": "same", "q h X c": "another package"}
	want := result{
		name: "p", killed: 2, explained: 2,
		lived: []mutant{alive}, notCovered: []mutant{uncovered}, idle: []string{"p h X gone"},
	}
	if diff := cmp.Diff(want, sumUp("p", mutants, reasons), sameMutant); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestResult_good(t *testing.T) {
	for name, row := range map[string]struct {
		r    result
		want bool
	}{
		"nothing to change":                  {result{}, true},
		"95 of 100 noticed":                  {result{killed: 95, lived: make([]mutant, 5)}, true},
		"94 of 100 noticed":                  {result{killed: 94, lived: make([]mutant, 6)}, false},
		"95 of 100 covered":                  {result{killed: 95, notCovered: make([]mutant, 5)}, true},
		"94 of 100 covered":                  {result{killed: 94, notCovered: make([]mutant, 6)}, false},
		"an explanation that none needs":     {result{killed: 100, idle: []string{"p f X a"}}, false},
		"half of what is covered, unnoticed": {result{killed: 1, lived: make([]mutant, 1)}, false},
	} {
		if got := row.r.good(); got != row.want {
			t.Errorf("%s: good %v with %.1f %% of %.1f %% covered", name, got, row.r.efficacy(), row.r.coverage())
		}
	}
}

func TestReport_namesSurvivors(t *testing.T) {
	var out strings.Builder
	ok, err := report(&out, []result{
		{name: "event", killed: 10},
		{
			name: "retry", killed: 9, explained: 1, idle: []string{"retry f X gone"},
			lived: []mutant{{where: "retry/retry.go:7", function: "f", kind: "X", expression: "a < b", status: lived}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		t.Error("all is well")
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"package killed lived not covered explained killed of covered, % covered, %",
		"event 10 0 0 0 100.0 100.0",
		"retry 9 1 0 1 90.0 100.0",
		"retry/retry.go:7: LIVED: retry f X a < b",
		"explained, but no longer alive: retry f X gone",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
