package child_test

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// gone waits until the process id is nobody's.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestProcess_Kill_endsTheWholeGroup(t *testing.T) {
	out := make(lines, 1)
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	cmd.Stdout = out
	p, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	grandchild := <-out
	p.Kill()
	if p.Err() == nil {
		t.Error("a killed process ended well")
	}
	gone(t, number(t, grandchild))
}

// The group's id may be another's by then.
func TestProcess_Kill_leavesAGroupWhoseLeaderHasEnded(t *testing.T) {
	out := make(lines, 1)
	cmd := exec.Command("sh", "-c", "sleep 60 2>/dev/null >/dev/null & echo $!")
	cmd.Stdout = out
	p, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	left := number(t, <-out)
	<-p.Done()
	p.Kill()
	if err := syscall.Kill(left, 0); err != nil {
		t.Errorf("what the leader has left: %v", err)
	}
	if err := syscall.Kill(left, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func TestProcess_Stop(t *testing.T) {
	for name, test := range map[string]struct {
		onTerm string // what the shell does with SIGTERM; empty: ignores it
		limit  time.Duration
		want   string // of the error, empty for none
	}{
		"a process that clears up ends well":    {`exit 0`, time.Minute, ""},
		"an exit status is reported":            {`exit 3`, time.Minute, "exit status 3"},
		"a process that does not end is killed": {``, 50 * time.Millisecond, "was killed"},
	} {
		t.Run(name, func(t *testing.T) {
			out := make(lines, 1)
			cmd := exec.Command("sh", "-c", "trap '"+test.onTerm+"' TERM; echo up; while :; do sleep 0.01; done")
			cmd.Stdout = out
			p, err := child.StartStoppable(cmd)
			if err != nil {
				t.Fatal(err)
			}
			<-out // the trap is set
			err = p.Stop(test.limit)
			if (err == nil) != (test.want == "") {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			gone(t, p.PID())
		})
	}
}

func TestRun_endsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := child.Run(ctx, exec.Command("sleep", "60")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
	if err := child.Run(t.Context(), exec.Command("true")); err != nil {
		t.Errorf("a program that ends well: %v", err)
	}
	if err := child.Run(t.Context(), exec.Command("/no/such/program")); err == nil {
		t.Error("a missing program was started")
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// lines passes on what a process prints.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- strings.TrimSpace(string(p))
	return len(p), nil
}
