package child_test

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// gone waits until no process has the id.
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

func TestStartTelling(t *testing.T) {
	for _, row := range []struct {
		script string
		limit  time.Duration
		want   string
	}{
		{"echo here; exec sleep 60", time.Minute, "here"},
		{"exit 3", time.Minute, "told nothing and ended: exit status 3"},
		{"exec sleep 60", 50 * time.Millisecond, context.DeadlineExceeded.Error()},
	} {
		p, got, err := child.StartTelling(t.Context(), exec.Command("sh", "-c", row.script), row.limit, io.Discard)
		if err != nil {
			got = err.Error()
		} else {
			p.Kill()
		}
		if !strings.Contains(got, row.want) {
			t.Errorf("%s: %s, want %s", row.script, got, row.want)
		}
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

// lines passes on the output of a process, line by line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- strings.TrimSpace(string(p))
	return len(p), nil
}
