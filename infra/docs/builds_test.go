package docs_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/internal/edges/config"
)

// The linker takes an -X for a variable that does not exist without a word.
func TestMake_setsTheVersionThatProgramsSay(t *testing.T) {
	if config.Version != "dev" { // it does not compile without the variable that is set
		t.Fatalf("a test has the version %s", config.Version)
	}
	if commands.Commit != "" {
		t.Fatalf("a test has the commit %s", commands.Commit)
	}
	set := "-X " + reflect.TypeFor[config.Function[struct{}]]().PkgPath() + ".Version="
	for _, build := range []string{"$(GO_BUILD)", "$(DEPLOYED)"} {
		if got, err := shown(t, build); err != nil || !strings.Contains(got, set) {
			t.Errorf("%s lacks %q: %s, %v", build, set, got, err)
		}
	}
	program := filepath.Join(t.TempDir(), "herald")
	if out, err := recipe(t, "$(GO_BUILD) -o "+program+" ./infra/tool/herald", "VERSION=9.8.7", "COMMIT=abc"); err != nil {
		t.Fatalf("building: %v: %s", err, out)
	}
	says := "herald version 9.8.7, github.com/herald-webhooks/herald, commit abc, " + runtime.Version() + ", "
	for mode, want := range map[string]string{
		"off": says + program, "on": says + "FIPS 140-3 by the Go Cryptographic Module latest, " + program,
	} {
		version := exec.CommandContext(t.Context(), program, "--version")
		version.Env = append(os.Environ(), "GODEBUG=fips140="+mode)
		if out, err := version.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("herald --version says %q, want %q: %v", out, want, err)
		}
	}
}

// Without FIPS=1, Go is not told of its cryptographic module, so that the binaries are those of any other build.
func TestMake_compilesForFIPSOnRequestAlone(t *testing.T) {
	for variable, want := range map[string]string{"FIPS=": "", "FIPS=0": "", "FIPS=1": "v1.0.0"} {
		if got, err := recipe(t, "echo $$GOFIPS140", variable); err != nil || got != want {
			t.Errorf("%s: GOFIPS140 is %q, want %q: %v", variable, got, want, err)
		}
	}
}

func TestMake_runsTheTestsOfDynamoDBOnTheSecondEngine(t *testing.T) {
	ofMoto := []string{
		"infra/proofs/template", // is about rights
		"infra/tool/verify",     // tries calls on tables that do not exist
		"infra/examples/outbox", // is about a stream, which Python reads
	}
	listed, err := shown(t, "$(SECOND_ENGINE)")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for file, text := range texts(t) {
		emulated := strings.HasSuffix(file, "_emulator_test.go") && strings.Contains(text, "testkit.Moto(t)")
		if emulated && !slices.Contains(ofMoto, path.Dir(file)) && strings.Contains(text, "service/dynamodb\"") {
			want = append(want, "./"+path.Dir(file))
		}
	}
	slices.Sort(want)
	got := strings.Fields(listed)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("packages of second-engine (-with such tests +listed):\n%s", diff)
	}
}
