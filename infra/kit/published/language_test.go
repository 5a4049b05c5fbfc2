package published

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStart_namesTheMissingTool(t *testing.T) {
	for _, l := range Languages() {
		t.Setenv("PATH", t.TempDir())
		r, err := l.Start(t.Context(), Place{Root: "../../..", Scratch: t.TempDir()}, "whsec_secret")
		if err == nil {
			r.Close()
			t.Fatalf("%s runs without %s", l.Name, l.tools)
		}
		if !strings.Contains(err.Error(), l.tools[0]) || !strings.Contains(err.Error(), l.Name) {
			t.Errorf("the error does not name %s: %v", l.tools[0], err)
		}
	}
}

// make test leaves out a language if one of its programs is missing, and says so. make brings Node.js itself.
func TestSystem_namesEveryLanguageThatCannotRun(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	system := func(word, ci string) (string, error) {
		cmd := exec.CommandContext(t.Context(), bash, "../../../.ci/system", word)
		cmd.Env = []string{"PATH=" + t.TempDir(), "CI=" + ci}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	skip, errSkip := system("skip", "")
	report, errReport := system("report", "")
	if errSkip != nil || errReport != nil {
		t.Fatal(errSkip, errReport)
	}
	for _, l := range Languages() {
		brought := l.Name == "go" || l.Name == "node" || l.Name == "python"
		left := strings.Contains(skip, "/^"+l.Name+"$")
		said := strings.Contains(strings.ToLower(report), "the receiver in "+l.Name)
		if left == brought || said == brought {
			t.Errorf("%s is left out: %v, named: %v", l.Name, left, said)
		}
	}
	if out, err := system("report", "true"); err == nil {
		t.Errorf("nothing may be left out where CI=true:\n%s", out)
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
