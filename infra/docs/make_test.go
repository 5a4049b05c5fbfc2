package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bareMake runs make in a checkout of its Makefile alone, on a machine that has a shell, make and rm.
func bareMake(t *testing.T, target string) (string, error) {
	t.Helper()
	checkout, bin := t.TempDir(), t.TempDir()
	const engine = "infra/local/"
	if err := os.MkdirAll(filepath.Join(checkout, engine), 0o750); err != nil {
		t.Fatal(err)
	}
	files := []string{
		"Makefile", "infra/requirements.txt", "infra/local/requirements.txt",
		engine + "package.json", engine + "package-lock.json",
	}
	for _, file := range files {
		text := []byte(readFile(t, file))
		if err := os.WriteFile(filepath.Join(checkout, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bash", "sh", "make", "rm"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "make"), target)
	cmd.Dir, cmd.Env = checkout, []string{"PATH=" + bin}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestMake_namesWhatIsMissing(t *testing.T) {
	for target, want := range map[string]string{
		"native": "make: go is missing; install Go 1.26.8 or newer\n",
		".venv/installed": "make: python3 is missing, too old or without venv; " +
			"install Python 3.11 or newer with venv\n",
		".tools/dynamodb-local/installed": "make: javac is missing; install a JDK, 17 or newer\n",
	} {
		out, err := bareMake(t, target)
		if err == nil {
			t.Errorf("make %s succeeds without it", target)
		}
		if !strings.Contains(out, want) || strings.Count(out, "\n") != 2 { // make itself adds a line
			t.Errorf("make %s prints\n%swant\n%s", target, out, want)
		}
	}
}

// The first tools that make run installs are some of all, with the versions and the hashes that they have there.
func TestRequirements_ofTheLocalStackAreSomeOfAll(t *testing.T) {
	pin := regexp.MustCompile(`(?m)^[A-Za-z0-9][^\n]*(?:\n    [^\n]*)+`)
	all, some := pin.FindAllString(readFile(t, "infra/requirements.txt"), -1),
		pin.FindAllString(readFile(t, "infra/local/requirements.txt"), -1)
	if len(some) == 0 || len(some) >= len(all) {
		t.Errorf("%d of %d", len(some), len(all))
	}
	for _, one := range some {
		if !slices.Contains(all, one) {
			name, _, _ := strings.Cut(one, "\n")
			t.Errorf("infra/requirements.txt has not %s with the same hashes", name)
		}
	}
}

var (
	phony     = regexp.MustCompile(`(?m)^\.PHONY: (.*)$`)
	explained = regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `)
)

// make help lists only targets with an explanation.
func TestMake_explainsEveryTarget(t *testing.T) {
	makefile := readFile(t, "Makefile")
	declared := phony.FindStringSubmatch(makefile)
	if declared == nil {
		t.Fatal("the Makefile declares no targets")
	}
	var got []string
	for _, match := range explained.FindAllStringSubmatch(makefile, -1) {
		got = append(got, match[1])
	}
	want := strings.Fields(declared[1])
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets (-declared +explained):\n%s", diff)
	}
}

// A newcomer sees what people use; ten of forty do not hide what the others are for.
func TestMake_helpShowsTenTargetsFirst(t *testing.T) {
	lines := func(variables ...string) []string {
		out, err := recipe(t, "$(MAKE) help", variables...)
		if err != nil {
			t.Fatal(err, out)
		}
		return strings.Split(out, "\n")
	}
	few, all := lines(), lines("ALL=1")
	if len(few) != 10+1 || few[10] != "  make help ALL=1 lists all targets" {
		t.Errorf("make help prints\n%s", strings.Join(few, "\n"))
	}
	if want := len(explained.FindAllString(readFile(t, "Makefile"), -1)); len(all) != want || want <= len(few) {
		t.Errorf("make help ALL=1 prints %d targets of %d", len(all), want)
	}
}

// shown is a text as a recipe of the Makefile shows it.
func shown(t *testing.T, text string) (string, error) {
	t.Helper()
	return recipe(t, "echo "+text)
}

// recipe runs a command as a recipe of the Makefile runs it. Variables are the command line's, NAME=value.
func recipe(t *testing.T, command string, variables ...string) (output string, err error) {
	t.Helper()
	arguments := append([]string{"--eval", "recipe: ; @" + command, "recipe"}, variables...)
	cmd := exec.CommandContext(t.Context(), "make", arguments...)
	// As a make that no other has started: that one's options would print folders.
	cmd.Dir, cmd.Env = root, slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") || strings.HasPrefix(v, "GOTOOLCHAIN")
	})
	cmd.Env = append(cmd.Env, "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// A machine's own Go may lack the fixes of the toolchain that go.mod names, and GOTOOLCHAIN may forbid to fetch it.
func TestMake_compilesWithTheToolchainOfTheModule(t *testing.T) {
	named := regexp.MustCompile(`(?m)^toolchain (go1\.\d+\.\d+)$`).FindStringSubmatch(readFile(t, "go.mod"))
	if named == nil {
		t.Fatal("go.mod names no toolchain")
	}
	got, err := shown(t, "$$GOTOOLCHAIN")
	if err != nil || got != named[1] {
		t.Errorf("make compiles with %s, want %s: %v", got, named[1], err)
	}
}

// What is built while a local stack runs replaces the stack's own programs.
func TestMake_keepsTheCatalogueOfARunningStack(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"Makefile": readFile(t, "Makefile"), "go.mod": readFile(t, "go.mod"), "other.yaml": "other: 1\n",
		".local/stack.lock": strconv.Itoa(os.Getpid()) + "\n", ".local/running.yaml": "running: 1\n",
	}
	if err := os.Mkdir(filepath.Join(dir, ".local"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "make", append([]string{"same-catalogue"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const refused = "make: the local stack runs with another catalogue than this: end it first\n"
	for _, row := range []struct {
		args  []string
		taken bool
	}{
		{[]string{"CATALOGUE=.local/running.yaml"}, true}, {[]string{"CATALOGUE=other.yaml"}, false}, {nil, false},
	} {
		out, err := ask(row.args...)
		if taken := err == nil; taken != row.taken || !taken && !strings.HasPrefix(out, refused) {
			t.Errorf("%v: %v: %s", row.args, err, out)
		}
	}
	kept := exec.CommandContext(t.Context(), "make", "-n", "native")
	kept.Dir = dir
	if out, err := kept.CombinedOutput(); err != nil || !strings.Contains(string(out), `-own ".local/running.yaml"`) {
		t.Errorf("make native builds without the stack's catalogue: %v: %s", err, out)
	}
	if err := os.Remove(filepath.Join(dir, ".local/stack.lock")); err != nil {
		t.Fatal(err)
	}
	if out, err := ask(); err != nil {
		t.Errorf("no stack runs: %v: %s", err, out)
	}
}
