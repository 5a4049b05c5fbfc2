// Package child starts processes that cannot outlive the program.
//
// Each child leads a process group of its own, so that a Ctrl-C in the terminal reaches the
// program only, and is killed by the kernel when the program ends, however it ends (on Linux).
// It never restarts a child.
package child

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Process is a running or ended child.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts cmd, whose SysProcAttr it sets.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	if err := spawn(cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID is the process id, which is the id of its group too.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err tells how the process ended, nil for exit status 0. It may be called once Done is closed.
func (p *Process) Err() error { return p.err }

// Kill ends the process and all of its group and waits for it.
func (p *Process) Kill() {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // already gone is as good
	}
	<-p.done
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

func spawn(cmd *exec.Cmd) error {
	r := request{cmd: cmd, started: make(chan error, 1)}
	forks() <- r
	return <-r.started
}
