package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read returns the results and what was printed for lines of "go test -json".
func read(t *testing.T, lines ...string) (results, string) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	return r.results, out.String()
}

func TestReport_read(t *testing.T) {
	for name, row := range map[string]struct {
		lines   []string
		want    results
		printed string
	}{
		"passing tests are one line for their package": {
			lines: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p","Test":"TestA/row"}`,
				`{"Action":"output","Package":"p","Output":"PASS\n"}`, `{"Action":"pass","Package":"p","Elapsed":1.25}`,
			},
			want:    results{"p TestA": passed, "p TestA/row": passed},
			printed: "ok    p" + strings.Repeat(" ", 69) + "    1.2 s\n",
		},
		"a failing test is shown in full, with the order of the run": {
			lines: []string{
				`{"Action":"output","Package":"p","Output":"-test.shuffle 17\n"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: what went wrong\n"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\n"}`,
				`{"Action":"output","Package":"p","Output":"exit status 1\n"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.01s\n"}`, `{"Action":"fail","Package":"p"}`,
			},
			want: results{"p TestA": failed},
			printed: `FAIL  p TestA
        a_test.go:3: what went wrong
    --- FAIL: TestA (0.00s)
FAIL  p
      in this order again: go test -shuffle=17 p
`,
		},
		"a data race is named": {
			lines: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"WARNING: DATA RACE\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`, `{"Action":"fail","Package":"p"}`,
			},
			want:    results{"p TestA": failed},
			printed: "FAIL  p TestA (data race)\n    WARNING: DATA RACE\nFAIL  p\n",
		},
		"a data race beside a failing test is shown as well": {
			lines: []string{
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"WARNING: DATA RACE\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			want:    results{"p TestA": failed},
			printed: "FAIL  p TestA\nFAIL  p (data race)\n    WARNING: DATA RACE\n",
		},
		"a skipped test is named": {
			lines: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: no network\n"}`,
				`{"Action":"skip","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p"}`,
			},
			want: results{"p TestA": skipped},
			printed: "SKIP  p TestA\n        a_test.go:3: no network\n" +
				"ok    p" + strings.Repeat(" ", 69) + "    0.0 s\n",
		},
		"a package without tests is not skipped": {
			lines: []string{`{"Action":"skip","Package":"p"}`},
			want:  results{},
		},
		"a package that does not compile": {
			lines: []string{
				`{"Action":"build-output","ImportPath":"p","Output":"undefined: x\n"}`,
				`{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			},
			want:    results{"p": failed},
			printed: "undefined: x\nFAIL  p\n",
		},
		"a package that crashes after its tests": {
			lines: []string{
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Output":"exit status 2\n"}`, `{"Action":"fail","Package":"p"}`,
			},
			want:    results{"p TestA": passed, "p": failed},
			printed: "FAIL  p\n    exit status 2\n",
		},
		"the go command's own words": {
			lines:   []string{`go: cannot find main module`},
			want:    results{},
			printed: "go: cannot find main module",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, printed := read(t, row.lines...)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(row.printed, printed); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResults_areGoodWhenAllPassed(t *testing.T) {
	type summary struct {
		Text string
		OK   bool
	}
	for name, row := range map[string]struct {
		r    results
		want summary
	}{
		"nothing at all": {results{}, summary{"0 passed, 0 failed", true}},
		"all passed":     {results{"p TestA": passed, "p TestB": passed}, summary{"2 passed, 0 failed", true}},
		"one failed":     {results{"p TestA": passed, "p TestB": failed}, summary{"1 passed, 1 failed", false}},
		"one was skipped": {
			results{"p TestA": passed, "p TestB": skipped}, summary{"1 passed, 0 failed, 1 skipped", false},
		},
		"a package crashed": {results{"p TestA": passed, "p": failed}, summary{"1 passed, 1 failed", false}},
	} {
		if diff := cmp.Diff(row.want, summary{row.r.String(), row.r.ok()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// inNewFolder saves runs where total looks for them.
func inNewFolder(t *testing.T, runs map[string]results) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, r := range runs {
		if err := save(name, r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTotal_countsATestOfBothRunsOnce(t *testing.T) {
	inNewFolder(t, map[string]results{
		"unit":     {"p TestA": passed, "p TestB": passed},
		"emulator": {"p TestA": passed, "p TestB": failed, "p TestC": passed},
	})
	var out strings.Builder
	ok, err := total(&out)
	if ok || err != nil {
		t.Errorf("ok %v, error %v, want neither", ok, err)
	}
	const want = `fail: p TestB
unit tests:     2 passed, 0 failed
emulator tests: 1 passed, 1 failed
2 passed, 1 failed
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

func TestTotal_isContentWhenBothRunsPassed(t *testing.T) {
	inNewFolder(t, map[string]results{"unit": {"p TestA": passed}, "emulator": {"p TestB": passed}})
	var out strings.Builder
	ok, err := total(&out)
	if !ok || err != nil {
		t.Errorf("ok %v, error %v\n%s", ok, err, out.String())
	}
}

func TestTotal_missesARun(t *testing.T) {
	for name, runs := range map[string]map[string]results{
		"both":              nil,
		"the unit tests":    {"emulator": {"p TestA": passed}},
		"the emulator ones": {"unit": {"p TestA": passed}},
	} {
		t.Run(name, func(t *testing.T) {
			inNewFolder(t, runs)
			var out strings.Builder
			if ok, _ := total(&out); ok || !strings.HasPrefix(out.String(), "a run of tests is missing: see above\n") {
				t.Errorf("ok %v, printed\n%s", ok, out.String())
			}
		})
	}
}

func TestRun_keepsAndNamesWhatFailed(t *testing.T) {
	inNewFolder(t, nil)
	in := strings.NewReader(`{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}`)
	var out strings.Builder
	ok, err := run("unit", in, &out)
	if ok || err != nil {
		t.Errorf("ok %v, error %v, want neither", ok, err)
	}
	const want = "FAIL  p TestA\nfail: p TestA\nunit tests: 1 passed, 1 failed\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	kept, err := load("unit")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(results{"p TestA": failed, "p TestB": passed}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
