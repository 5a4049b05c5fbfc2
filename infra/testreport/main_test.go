package main

import (
	"strings"
	"testing"
)

func reported(t *testing.T, lines ...string) (results, string) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	return r.results, out.String()
}

func TestOutcomesAreCountedAndFailuresShown(t *testing.T) {
	for name, row := range map[string]struct {
		lines []string
		want  string
		ok    bool
		shown string
	}{
		"passing tests": {
			lines: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"noise"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p","Test":"TestA/row"}`, `{"Action":"pass","Package":"p"}`,
			},
			want: "2 passed, 0 failed", ok: true, shown: "ok    p",
		},
		"a failing test": {
			lines: []string{
				`{"Action":"output","Package":"p","Test":"TestA","Output":"what went wrong"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`, `{"Action":"fail","Package":"p"}`,
			},
			want: "0 passed, 1 failed", shown: "what went wrong",
		},
		"a skipped test is no success": {
			lines: []string{`{"Action":"skip","Package":"p","Test":"TestA"}`, `{"Action":"pass","Package":"p"}`},
			want:  "0 passed, 0 failed, 1 skipped",
		},
		"a package without tests is no skip": {
			lines: []string{`{"Action":"skip","Package":"p"}`},
			want:  "0 passed, 0 failed", ok: true,
		},
		"a package that does not compile": {
			lines: []string{`{"Action":"build-output","ImportPath":"p","Output":"undefined: x"}`, `{"Action":"fail","Package":"p","FailedBuild":"p"}`},
			want:  "0 passed, 1 failed", shown: "undefined: x",
		},
		"a package that crashes after its tests": {
			lines: []string{`{"Action":"pass","Package":"p","Test":"TestA"}`, `{"Action":"output","Package":"p","Output":"exit status 2"}`, `{"Action":"fail","Package":"p"}`},
			want:  "1 passed, 1 failed", shown: "exit status 2",
		},
		"the go command's own words": {
			lines: []string{`go: cannot find main module`}, want: "0 passed, 0 failed", ok: true, shown: "cannot find main module",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, shown := reported(t, row.lines...)
			if got.String() != row.want || got.ok() != row.ok {
				t.Errorf("%s (ok %v), want %s (ok %v)", got, got.ok(), row.want, row.ok)
			}
			if !strings.Contains(shown, row.shown) || strings.Contains(shown, "noise") {
				t.Errorf("printed %q", shown)
			}
		})
	}
}

func TestTotalCountsATestOfBothRunsOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, r := range map[string]results{
		"unit":     {"p TestA": passed, "p TestB": passed},
		"emulator": {"p TestA": passed, "p TestB": failed, "p TestC": passed},
	} {
		if err := save(name, r); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	ok, err := total(&out)
	if want := "unit tests:     2 passed, 0 failed\nemulator tests: 1 passed, 1 failed\n2 passed, 1 failed\n"; ok || err != nil || out.String() != want {
		t.Errorf("%q (ok %v, error %v), want %q", out.String(), ok, err, want)
	}
}

func TestAMissingRunIsNoSuccess(t *testing.T) {
	t.Chdir(t.TempDir())
	if ok, _ := total(&strings.Builder{}); ok {
		t.Error("no run at all counts as success")
	}
}
