//go:build emulator

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Two checkouts in different folders give the same bytes, and AWS's own translator takes the template. It runs with
// the tests of the emulator, after sam build, which has compiled the same.
func TestMakePackage_givesTheSameBytesTwice(t *testing.T) {
	var sums [2]string
	for i := range sums {
		checkout := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i))
		copyTo(t, checkout)
		run(t, checkout, "make", "package")
		sums[i] = string(file(t, filepath.Join(checkout, ".local/package/SHA256SUMS")))
		run(t, filepath.Join(checkout, ".local/package"), "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
		if i == 0 {
			translate(t, filepath.Join(checkout, ".local/package/template.yaml"))
		}
	}
	if sums[0] != sums[1] {
		t.Errorf("first:\n%s\nsecond:\n%s", sums[0], sums[1])
	}
}

// copyTo copies what make package reads, and nothing that was built or is git's.
func copyTo(t *testing.T, checkout string) {
	t.Helper()
	for _, name := range []string{"functions", "internal", "infra/pack"} {
		if err := os.CopyFS(filepath.Join(checkout, name), os.DirFS(filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Makefile", "VERSION", "LICENSE", "go.mod", "go.sum", "template.yaml"} {
		if err := os.WriteFile(filepath.Join(checkout, name), file(t, filepath.Join(root, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func translate(t *testing.T, template string) {
	t.Helper()
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(base)
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, base, python, "infra/local/translate.py", template, "samconfig.toml", "default", "CodeBucket=releases")
	var answer struct {
		Template struct {
			Resources map[string]struct {
				Type       string
				Properties struct{ Code map[string]any }
			}
		}
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	functions := 0
	for id, r := range answer.Template.Resources {
		if r.Type == "AWS::Lambda::Function" {
			functions++
			if r.Properties.Code["S3Bucket"] == nil || r.Properties.Code["S3Key"] == nil {
				t.Errorf("the code of %s is in %v", id, r.Properties.Code)
			}
		}
	}
	if functions == 0 {
		t.Error("there are no functions")
	}
}

func run(t *testing.T, folder string, command ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = folder
	// As a make of its own: the tests' may have options.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") })
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, problems.String())
	}
	return out
}
