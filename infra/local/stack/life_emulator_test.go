//go:build emulator

package stack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

func TestStart_refusesASecondStackAndNotAStaleFolder(t *testing.T) {
	root := checkout(t)
	if err := os.WriteFile(filepath.Join(root, ".local", "stack.json"), []byte("stale"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, root)
	if info, err := os.Stat(s.ReceiverKeyFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the receivers' key: %v, %v", info, err)
	}
	if _, err := Start(t.Context(), Options{Root: root}); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a second stack: %v", err)
	}
	_, busy, _ := strings.Cut(strings.TrimPrefix(s.AWSEndpointURL, "http://"), ":")
	_, err := Start(t.Context(), Options{Root: checkout(t), AWSPort: busy})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("a busy port: %v", err)
	}
	pid := s.emulator.PID()
	s.Close()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the emulator outlived the stack: %v", err)
	}
	for _, name := range []string{"stack.json", "aws/config"} {
		if _, err := os.Stat(filepath.Join(root, ".local", name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s outlived the stack: %v", name, err)
		}
	}
	// The Makefile asks whether the process that it names is alive: later it may be another one.
	if owner, err := os.ReadFile(filepath.Join(root, ".local", "stack.lock")); err != nil || len(owner) > 0 {
		t.Errorf("the lock still names the process %s: %v", owner, err)
	}
	_, err = Start(t.Context(), Options{Root: root, Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "run `make build`") {
		t.Errorf("missing binaries: %v", err)
	}
	_, err = Start(t.Context(), Options{Root: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "run `make tools`") {
		t.Errorf("missing tools: %v", err)
	}
}

func TestCommand_endsBySignalAtAnyMoment(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "stack")
	if out, err := exec.Command("go", "build", "-o", binary, "..").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	root := checkout(t)
	stateFile := filepath.Join(root, ".local", "stack.json")
	for _, after := range []time.Duration{10 * time.Millisecond, time.Second, 0} {
		ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
		defer cancel()
		cmd := exec.CommandContext(ctx, binary)
		var output bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, &output, &output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		switch after {
		case time.Second:
			eventually(t, "the stack starts", func() bool { return processesOf(filepath.Dir(stateFile)) != "" })
			fallthrough
		case 10 * time.Millisecond:
			time.Sleep(after)
		default:
			eventually(t, "the stack is up", func() bool {
				_, err := os.Stat(stateFile)
				return err == nil
			})
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := cmd.Wait()
		if err != nil && after > 100*time.Millisecond {
			t.Errorf("a signal after %s: %v\n%s", after, err, output.String())
		}
		if left := processesOf(filepath.Dir(stateFile)); left != "" {
			t.Errorf("a signal after %s left %s", after, left)
		}
		if _, err := os.Stat(stateFile); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a signal after %s left the state file: %v", after, err)
		}
	}
}

// processesOf lists the processes that have an open file below dir.
func processesOf(dir string) string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range links {
		target, err := os.Readlink(link)
		if err == nil && strings.HasPrefix(target, dir+"/") {
			found = append(found, link+" → "+target)
		}
	}
	return strings.Join(found, ", ")
}
