//go:build emulator

package e2e

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	local "github.com/herald-webhooks/herald/infra/local/stack"
)

var older = flag.String("older", "", "an earlier commit, for TestTwoVersionsReadWhatTheOtherHasStored")

// An update and its rollback change the functions under tables and queues that stay. Deliveries that are held, dead
// letters, a job, a rejected event, keys and endpoints of each version are finished by the other. The template is this
// version's all the time: a function of an older one that needs a variable that has gone since then cannot start, which
// an update does not have.
func TestTwoVersionsReadWhatTheOtherHasStored(t *testing.T) {
	if *older == "" {
		t.Fatal("make versions OLDER=commit says which versions")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	prepare := exec.Command("git", "worktree", "add", "--detach", source, *older)
	prepare.Dir = root
	execute(t, prepare)
	t.Cleanup(func() {
		remove := exec.Command("git", "worktree", "remove", "--force", source)
		remove.Dir = root
		if out, err := remove.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	versions := map[string]string{"older": source, "newer": root}
	for name, from := range versions {
		compile(t, from, filepath.Join(dir, name))
	}
	install(t, filepath.Join(dir, "older"), dir)
	stack, err := local.Start(t.Context(), local.Options{Root: root, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stack.Close)
	at, err := receiver.Start(stack.ReceiverCertFile, stack.ReceiverKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() }) // the process ends
	mine := client.New(stack.State)
	var left remains
	for n, name := range []string{"older", "newer", "older", "newer"} {
		install(t, filepath.Join(dir, name), dir)
		if n > 0 {
			left.finish(t, mine)
		}
		left = leave(t, mine, at)
	}
	left.finish(t, mine)
}

// compile builds the functions of a checkout into a folder for each.
func compile(t *testing.T, from, into string) {
	t.Helper()
	if err := os.MkdirAll(into, 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
		"-o", into, "./functions/...")
	build.Dir = from
	execute(t, build)
}

// install puts the functions of a version in the place of those that the stack runs, and ends their processes: a batch
// that one of them has comes back.
func install(t *testing.T, version, dir string) {
	t.Helper()
	binaries, err := os.ReadDir(version)
	if err != nil {
		t.Fatal(err)
	}
	functions := filepath.Join(dir, "functions")
	for _, b := range binaries {
		text, err := os.ReadFile(filepath.Join(version, b.Name()))
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(functions, b.Name(), "bootstrap")
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at+".new", text, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".new", at); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the end of the processes before", func(context.Context) (bool, error) {
		running, err := filepath.Glob("/proc/[0-9]*/exe")
		left := 0
		for _, exe := range running {
			program, _ := os.Readlink(exe) // none where it has gone
			if pid, err := strconv.Atoi(strings.Split(exe, "/")[2]); err == nil &&
				strings.HasPrefix(program, functions) && strings.HasSuffix(program, " (deleted)") {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL) // gone already, unless it is killed
			}
		}
		return left == 0, err
	})
}
