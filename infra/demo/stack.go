package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/client"
)

const (
	startLimit = 4 * time.Minute // the first start installs nothing, but machines differ
	stopLimit  = 30 * time.Second
)

// stackProcess is the local stack as a child in a process group of its own, so that the
// terminal's Ctrl-C reaches it only through stop.
type stackProcess struct {
	state  client.State
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone
	err    error         // its exit, readable then
}

func startStack(ctx context.Context, o options) (*stackProcess, error) {
	if err := os.MkdirAll(filepath.Dir(o.log), 0o750); err != nil {
		return nil, fmt.Errorf("making log folder: %w", err)
	}
	log, err := os.Create(o.log)
	if err != nil {
		return nil, fmt.Errorf("making stack log: %w", err)
	}
	defer log.Close()            //nolint:errcheck // the child has its own handle
	cmd := exec.Command(o.stack) //nolint:gosec // the path is the caller's own
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, childAttributes()
	p := &stackProcess{cmd: cmd, exited: make(chan struct{})}
	if err := p.start(); err != nil {
		return nil, err
	}
	if err := p.ready(ctx, o); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// start keeps the thread that started the child until it ends: the kernel tells the child of
// its parent's death by that thread.
func (p *stackProcess) start() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting the stack: %w", err)
	}
	return nil
}

func (p *stackProcess) ready(ctx context.Context, o options) error {
	deadline := time.After(startLimit)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("the stack was not ready after %s, see %s", startLimit, o.log)
		case <-p.exited:
			return fmt.Errorf("the stack ended before it was ready: %s", lastLine(o.log))
		case <-time.After(100 * time.Millisecond):
		}
		info, err := os.Stat(o.state)
		if err != nil || !p.wrote(info) {
			continue
		}
		p.state, err = client.ReadState(o.state)
		return err
	}
}

// wrote reports whether the state file is younger than the child: a file that was there
// before belongs to another stack, which makes the child give up with a line of its own.
func (p *stackProcess) wrote(info os.FileInfo) bool {
	proc, err := os.Stat(fmt.Sprintf("/proc/%d", p.cmd.Process.Pid))
	return err != nil || !info.ModTime().Before(proc.ModTime())
}

func (p *stackProcess) stop() error {
	select {
	case <-p.exited:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the stack: %w", err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopLimit):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("the stack did not stop within %s and was killed", stopLimit)
	}
	if p.err != nil {
		return fmt.Errorf("the stack ended badly: %w", p.err)
	}
	return nil
}

func lastLine(path string) string {
	raw, err := os.ReadFile(path) //nolint:gosec // our own log
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	return string(lines[len(lines)-1])
}
