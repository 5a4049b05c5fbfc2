package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where the engine cannot play a bad day, tests that exist hold deploy.md's claim. deploy.md quotes the answer of AWS.
func TestBadDays_areDeploysAndHeldByTests(t *testing.T) {
	document, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range badDays {
		if !strings.Contains(string(document), "`"+d.answer+"`") {
			t.Errorf("deploy.md does not say that %s is answered %s", d.what, d.answer)
		}
		if len(d.held) == 0 {
			t.Errorf("no test is named for %s", d.what)
		}
		for _, name := range d.held {
			if !strings.Contains(tests.String(), "\nfunc "+name+"(") {
				t.Errorf("no test is %s, which is named for %s", name, d.what)
			}
		}
	}
}

func TestVerdict(t *testing.T) {
	d := badDay{what: "a bad day", answer: "Invalid region", held: []string{"TestA", "TestB"}}
	type verdict struct {
		Said  string
		Fault bool
	}
	for printed, want := range map[string]verdict{
		"ok": {
			"not shown, as the engine takes it, and AWS answers Invalid region: a bad day; see TestA and TestB", false,
		},
		"An error occurred (ValidationError): Invalid region us-east-1": {
			"a bad day is refused with Invalid region, as deploy.md says", false,
		},
		"aws: command not found": {"", true},
	} {
		said, err := d.verdict(printed, printed != "ok")
		if diff := cmp.Diff(want, verdict{said, err != nil}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", printed, diff)
		}
	}
}

func TestMeet_tellsOfEachDayAndEndsWithTheFirstFault(t *testing.T) {
	days := []badDay{
		{what: "one", answer: "Refused", commands: "true"},
		{what: "two", answer: "Refused", commands: "echo Refused >&2; exit 254"},
		{what: "three", answer: "Refused", commands: "echo broken; exit 254"},
		{what: "four", answer: "Refused", commands: "true"},
	}
	var log strings.Builder
	err := meet(t.Context(), &engine{}, t.TempDir(), days, &log)
	if err == nil || !strings.Contains(err.Error(), "three") || !strings.Contains(err.Error(), "broken") {
		t.Errorf("it ends with %v", err)
	}
	want := "rehearse: not shown, as the engine takes it, and AWS answers Refused: one; see \n" +
		"rehearse: two is refused with Refused, as deploy.md says\n"
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("it tells (-want +got):\n%s", diff)
	}
}
