package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// clean is a runner in a folder of its own, at commit abc, with nothing changed.
func clean(t *testing.T) runner {
	t.Helper()
	return runner{
		folder: t.TempDir(), commit: "abc", each: time.Second, now: func() time.Time { return noon },
		state: func(context.Context) (string, string, error) { return "abc", "", nil },
	}
}

// shows is a result of a clean runner.
func shows(says string, failed bool) result {
	return result{Says: says, Failed: failed, Each: time.Second, Time: noon, Commit: "abc"}
}

func prove(t *testing.T, r runner, p proof) result {
	t.Helper()
	made, err := r.prove(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestProve_saysWhatTheCommandShowed(t *testing.T) {
	for name, row := range map[string]struct {
		proof proof
		want  result
	}{
		"it succeeds": {proof{command: "true"}, shows("holds: 0s", false)},
		"it has a figure, printed twice": {
			proof{command: "echo 3 of 4; echo 4 of 4", figure: regexp.MustCompile(`\d of 4`)},
			shows("holds: 4 of 4, 0s", false),
		},
		"it succeeds without its figure": {
			proof{command: "echo no tests to run", figure: regexp.MustCompile(`\d of 4`)},
			shows("**no figure** after 0s", true),
		},
		"it fails": {proof{command: "false; true"}, shows("**failed** after 0s", true)},
		"it could not try": {
			proof{command: "echo no net; exit 1", absent: regexp.MustCompile(`no net`)}, result{Says: "not run: no net"},
		},
		"a program is missing": {
			proof{command: "true", needs: []string{"no-such-program"}}, result{Says: "not run: no-such-program is missing"},
		},
		"it is a search": {
			proof{command: "[ {for} = 1s ]", searches: 1}, shows("holds: 0s", false),
		},
	} {
		row.proof.bound = time.Minute
		if row.want.Commit != "" {
			row.want.Command = row.proof.with(time.Second)
		}
		if diff := cmp.Diff(row.want, prove(t, clean(t), row.proof)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What a command has started ends with it: a fuzz target would go on beside the next proof.
func TestProve_endsACommandAtItsBound(t *testing.T) {
	r, left := clean(t), filepath.Join(t.TempDir(), "left")
	made := prove(t, r, proof{command: "(sleep 2; touch " + left + ") & wait", bound: 200 * time.Millisecond})
	made.Command = ""
	if want := shows("**ended** after 0s", true); made != want {
		t.Errorf("%+v, want %+v", made, want)
	}
	time.Sleep(2500 * time.Millisecond)
	if _, err := os.Stat(left); err == nil {
		t.Error("what it started went on")
	}
}

func TestRows_runNothingAgainWhoseResultIsThere(t *testing.T) {
	r, runs := clean(t), filepath.Join(t.TempDir(), "runs")
	count := proof{claims: []string{"one", "two"}, command: "echo run >> " + runs, bound: time.Minute, searches: 1}
	for _, step := range []struct {
		name string
		each time.Duration
		want int
	}{
		{"the first time", time.Second, 1}, {"again", time.Second, 1}, {"a longer search", time.Minute, 2},
		{"a shorter search", time.Second, 2},
	} {
		r.each = step.each
		rows, err := r.rows(t.Context(), []proof{count}, regexp.MustCompile(""))
		text, readErr := os.ReadFile(runs)
		if err != nil || readErr != nil || len(rows) != 2 {
			t.Fatalf("%s: %v, %v, %v", step.name, rows, err, readErr)
		}
		if got := strings.Count(string(text), "run"); got != step.want {
			t.Errorf("%s: ran %d times, want %d", step.name, got, step.want)
		}
	}
}

// A row that was not run at this commit says at which it was.
func TestRows_showTheLastResultOfWhatIsNotChosen(t *testing.T) {
	folder, nothing := t.TempDir(), regexp.MustCompile("^$")
	all := []proof{{claims: []string{"one"}, command: "true", bound: time.Minute}}
	for n, commit := range []string{"aaa", "zzz", "mmm"} {
		r := clean(t)
		r.folder, r.commit = filepath.Join(folder, commit), commit
		r.now = func() time.Time { return noon.AddDate(0, 0, n) }
		r.state = func(context.Context) (string, string, error) { return commit, "", nil }
		if err := os.Mkdir(r.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		prove(t, r, all[0])
	}
	r := clean(t)
	r.folder = filepath.Join(folder, "new")
	rows, err := r.rows(t.Context(), all, nothing)
	if err != nil || len(rows) != 1 || rows[0].result.Commit != "mmm" {
		t.Errorf("%v, %v", rows, err)
	}
	if rows, err := clean(t).rows(t.Context(), all, nothing); err != nil || rows[0].result.Says != "not run" {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestRows_keepNothingOfAWorkTreeWithChanges(t *testing.T) {
	r := clean(t)
	r.state = func(context.Context) (string, string, error) { return "abc", " M main.go", nil }
	p := proof{claims: []string{"one"}, command: "true", bound: time.Minute}
	rows, err := r.rows(t.Context(), []proof{p}, regexp.MustCompile(""))
	if err != nil || len(rows) != 1 || rows[0].result.Commit != "abc and changes" {
		t.Errorf("%v, %v", rows, err)
	}
	if _, found, err := r.known(p); found || err != nil {
		t.Errorf("it is kept: %v", err)
	}
	r.state = func(context.Context) (string, string, error) { return "def", "", nil }
	if _, err := r.prove(t.Context(), p); err == nil {
		t.Error("a commit during the run goes unnoticed")
	}
}

func TestRows_failIfAProofFailsAndGoOn(t *testing.T) {
	r := clean(t)
	all := []proof{{claims: []string{"one"}, command: "false", bound: time.Minute},
		{claims: []string{"two"}, command: "true", bound: time.Minute},
		{claims: []string{"three"}, command: "herald", kept: onAWS}}
	rows, err := r.rows(t.Context(), all, regexp.MustCompile(""))
	if err == nil || !strings.Contains(err.Error(), "false: see ") {
		t.Errorf("%v", err)
	}
	const want = "| claim | command | result | date | commit |\n|---|---|---|---|---|\n" +
		"| one | `false` | **failed** after 0s | 2026-11-28 | abc |\n| two | `true` | holds: 0s | 2026-11-28 | abc |\n" +
		"| three | `herald` | not run: it needs a stack on AWS |  |  |\n"
	if diff := cmp.Diff(want, table(rows)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clean(t).rows(ended, all, regexp.MustCompile("")); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestWrite_replacesTheTableAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	const before, after = "# Page\n\n" + start, end + "\n## After\n\nText.\n"
	if err := os.WriteFile(path, []byte(before+"old\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(path, "new\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != before+"new\n"+after {
		t.Errorf("%q, %v", text, err)
	}
}

// A reader who doubts a claim finds how it was tried, and a reader of the table what the claim means.
func TestThePageExplainsEachClaimOnce(t *testing.T) {
	text, err := os.ReadFile("../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, explained, _ := strings.Cut(string(text), "|---|---|---|\n")
	explained, _, _ = strings.Cut(explained, "\n\n")
	var got, want []string
	for line := range strings.Lines(explained) {
		got = append(got, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	for _, p := range proofs {
		if p.kept != onAWS {
			want = append(want, p.claims...)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("(-proved +explained):\n%s", diff)
	}
}

func TestRun_refusesAChoiceOfNothing(t *testing.T) {
	if err := run(t.Context(), []string{"-only", "make no-such-target"}); err == nil {
		t.Error("it succeeds")
	}
}

func TestProofsRunTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		_, targets, made := strings.Cut(p.command, "make ")
		for _, target := range strings.Fields(targets) {
			if !made || strings.ContainsAny(target, "=-'") {
				break
			}
			if !strings.Contains(string(makefile), "\n"+target+": ") {
				t.Errorf("%s: there is no target %s", p.command, target)
			}
		}
		if p.kept == nil && p.bound == 0 {
			t.Errorf("%s has no bound", p.command)
		}
	}
}
