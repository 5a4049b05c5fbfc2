// Package process runs the local stack as a child, for the demonstration and the end-to-end
// tests.
//
// It promises that the child is ready when Start returns, and gone when Stop does, or when
// this process dies.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/statefile"
	"github.com/herald-webhooks/herald/internal/testkit/child"
)

const (
	startLimit = 4 * time.Minute // the first start installs nothing, but machines differ
	stopLimit  = 30 * time.Second
)

// Options says which stack to start.
type Options struct {
	Binary string // of the command infra/local
	Root   string // the checkout
	Dir    string // where it keeps state, logs, certificates and functions
	Log    string // gets its output

	Parameters string // of the template, "Name=Value …"
}

// StateFile is where the stack writes how to reach it.
func (o Options) StateFile() string { return filepath.Join(o.Dir, statefile.Name) }

// Stack is a local stack that runs as a child.
type Stack struct {
	State statefile.State

	options Options
	began   time.Time
	child   *child.Process
}

// Start starts the stack and waits until it is ready.
func Start(ctx context.Context, o Options) (*Stack, error) {
	if err := os.MkdirAll(filepath.Dir(o.Log), 0o750); err != nil {
		return nil, fmt.Errorf("making log folder: %w", err)
	}
	log, err := os.Create(o.Log)
	if err != nil {
		return nil, fmt.Errorf("making stack log: %w", err)
	}
	defer log.Close()                                             // the child has its own handle
	cmd := exec.Command(o.Binary, "-root", o.Root, "-dir", o.Dir) //nolint:gosec // the path is the caller's own
	if o.Parameters != "" {
		cmd.Args = append(cmd.Args, "-params", o.Parameters)
	}
	cmd.Stdout, cmd.Stderr = log, log
	s := &Stack{options: o, began: time.Now()}
	if s.child, err = child.StartStoppable(cmd); err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Stack) ready(ctx context.Context) error {
	deadline := time.After(startLimit)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("the stack was not ready after %s, see %s", startLimit, s.options.Log)
		case <-s.child.Done():
			return fmt.Errorf("the stack ended before it was ready: %s", child.LastLine(s.options.Log))
		case <-time.After(100 * time.Millisecond):
		}
		info, err := os.Stat(s.options.StateFile())
		if err != nil || info.ModTime().Before(s.began) { // an older file is another stack's, or a dead one's
			continue
		}
		s.State, err = statefile.Read(s.options.StateFile())
		return err
	}
}

// PID is the child's process id.
func (s *Stack) PID() int { return s.child.PID() }

// Exited is closed when the child is gone, for any cause.
func (s *Stack) Exited() <-chan struct{} { return s.child.Done() }

// Stop ends the stack as SIGTERM does and reports whether it ended well.
func (s *Stack) Stop() error {
	if err := s.child.Stop(stopLimit); err != nil {
		return fmt.Errorf("the stack ended badly: %w", err)
	}
	return nil
}
