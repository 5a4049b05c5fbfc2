package published

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStart_namesTheMissingTool(t *testing.T) {
	for _, l := range Languages() {
		t.Setenv("PATH", t.TempDir())
		r, err := l.Start(t.Context(), Place{Root: "../../..", Scratch: t.TempDir()}, "whs_secret")
		if err == nil {
			r.Close()
			t.Fatalf("%s runs without %s", l.Name, l.tools)
		}
		if !strings.Contains(err.Error(), l.tools[0]) || !strings.Contains(err.Error(), l.Name) {
			t.Errorf("the error does not name %s: %v", l.tools[0], err)
		}
	}
}

// What .ci/run neither installs nor asks for would be missing on a new machine.
func TestLanguages_needNothingThatCIDoesNotHave(t *testing.T) {
	script, err := os.ReadFile("../../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(script), "\nfor tool in go ")
	asked, _, _ := strings.Cut(after, "; do")
	// java comes with javac; python3 has a check of its own.
	has := map[string]bool{"go": true, "java": true, "python3": true}
	for _, tool := range strings.Fields(asked) {
		has[tool] = true
	}
	for _, l := range Languages() {
		for _, tool := range l.tools {
			if !has[tool] {
				t.Errorf("%s needs %s, which .ci/run does not ask for", l.Name, tool)
			}
		}
	}
}

func TestLanguages_areTheFoldersOfTheExamples(t *testing.T) {
	folders, err := filepath.Glob("../../examples/receiver/*")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for _, folder := range folders {
		want[filepath.Base(folder)] = true
	}
	for _, l := range Languages() {
		got[l.Name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("languages that run (-want +got):\n%s", diff)
	}
}
