// Package child starts processes that cannot outlive the program: the emulator and the functions for tests, local
// stack, demonstration and benchmark.
//
// Each child leads a new process group, so that a Ctrl-C in the terminal reaches the program
// only. It promises that Kill ends the whole group while its leader runs (once a leader has ended by
// itself, the group's id may be another's) and that, on Linux, the kernel ends a child when the
// program ends, however it ends. Elsewhere only the child itself can notice that: to let it, give
// the child a pipe as its standard input, which closes with the program.
// It never restarts a child.
package child

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a running or ended child.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start sets cmd's SysProcAttr and starts cmd. The kernel kills the child if the program dies. Start waits for the
// child from the first moment, so cmd must not have a StdoutPipe or StderrPipe, which Wait closes: to read the
// child's output, give it an os.Pipe or a writer of your own.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	if err := fork(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// StartTelling is Start for a child that tells something in its first line of output, such as its address. It waits for
// that line, at most until the limit. Later lines go to rest. A child that tells nothing is killed.
func StartTelling(ctx context.Context, cmd *exec.Cmd, limit time.Duration, rest io.Writer) (*Process, string, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, "", fmt.Errorf("making a pipe: %w", err)
	}
	cmd.Stdout = in
	p, err := Start(cmd)
	_ = in.Close() // the child holds its own
	if err != nil {
		_ = out.Close()
		return nil, "", err
	}
	first := make(chan string, 1)
	go func() {
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n') // an empty line tells as much as an error
		first <- strings.TrimSpace(line)
		_, _ = io.Copy(rest, lines) // ends with the process
		_ = out.Close()
	}()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case line := <-first:
		if line != "" {
			return p, line, nil
		}
		p.Kill()
		return nil, "", fmt.Errorf("%s told nothing and ended: %s", cmd.Path, cmd.ProcessState)
	case <-ctx.Done():
		p.Kill()
		return nil, "", fmt.Errorf("%s told nothing: %w", cmd.Path, ctx.Err())
	}
}

// Run starts cmd and waits for its end, which the end of ctx brings about.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	p, err := Start(cmd)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		p.Kill()
		return ctx.Err()
	}
}

// PID is the process id, which is the id of its group too.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err tells how the process ended, nil for exit status 0. It may be called once Done is closed.
func (p *Process) Err() error { return p.err }

// Kill ends the process and all of its group and waits for it. It does nothing if the process has ended already, even
// if children are left.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // already gone is as good
	}
	<-p.done
}

// LastLine is the last line of a child's log, or the reason why it cannot be read: for errors.
func LastLine(log string) string {
	output, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return lines[len(lines)-1]
}

type request struct {
	cmd     *exec.Cmd
	started chan error
}

// forks runs every fork on one thread that lives as long as the program: the kernel's death signal
// fires when the thread that forked ends, not the process, and Go retires threads.
var forks = sync.OnceValue(func() chan<- request {
	requests := make(chan request)
	go func() {
		runtime.LockOSThread()
		for r := range requests {
			r.started <- r.cmd.Start()
		}
	}()
	return requests
})

func fork(cmd *exec.Cmd) error {
	r := request{cmd: cmd, started: make(chan error, 1)}
	forks() <- r
	return <-r.started
}
