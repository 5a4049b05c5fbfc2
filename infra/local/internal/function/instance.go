package function

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// instance is one process of a function and the Runtime API that only it talks to.
type instance struct {
	fn      *Function
	server  *http.Server
	jobs    chan *invocation
	polled  chan struct{} // closed at the first poll
	failed  chan struct{} // closed when the runtime reports that it could not initialise
	once    sync.Once
	failing sync.Once

	mu      sync.Mutex
	process *child.Process
	current *invocation
	closed  bool
}

// start brings the process up and returns how long it took to poll for the first time.
func (in *instance) start(ctx context.Context) (time.Duration, error) {
	in.jobs, in.polled, in.failed = make(chan *invocation), make(chan struct{}), make(chan struct{})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("listening for the Runtime API: %w", err)
	}
	server := &http.Server{Handler: in.routes(), ReadHeaderTimeout: time.Minute}
	in.mu.Lock()
	in.server = server
	in.mu.Unlock()
	go func() { _ = server.Serve(listener) }() // ends with ErrServerClosed

	cmd := exec.Command(in.fn.Binary) //nolint:gosec // the function itself, killed by close
	cmd.Dir = filepath.Dir(in.fn.Binary)
	cmd.Env = in.fn.environment(listener.Addr().String())
	cmd.Stdout, cmd.Stderr = in.fn.log, in.fn.log
	begin := time.Now()
	process, err := child.Start(cmd)
	if err != nil {
		return 0, err
	}
	if !in.adopt(process) {
		process.Kill()
		return 0, errors.New("function is shut down")
	}
	select {
	case <-in.polled:
		return time.Since(begin), nil
	case <-in.failed:
		return 0, errors.New("the runtime reported an initialisation error, see the function's log")
	case <-process.Done():
		return 0, fmt.Errorf("process ended before its first poll, see the function's log: %w", errors.Join(process.Err()))
	case <-time.After(initTimeout):
		return 0, fmt.Errorf("no poll within %s", initTimeout)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (in *instance) adopt(process *child.Process) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.process = process
	return !in.closed
}

// run hands inv to the process and waits for the end of it. handed tells whether the process took it.
func (in *instance) run(ctx context.Context, inv *invocation) (result Result, handed bool, err error) {
	if in.dead() {
		return Result{}, false, nil
	}
	select {
	case in.jobs <- inv:
	case <-in.process.Done():
		return Result{}, false, nil
	case <-ctx.Done():
		return Result{}, false, ctx.Err()
	}
	timeout := time.NewTimer(in.fn.Timeout)
	defer timeout.Stop()
	select {
	case result = <-inv.result:
	case <-in.process.Done():
		result = in.lost(inv)
	case <-timeout.C:
		in.process.Kill()
		in.fn.Log.Warn("invocation timed out, process killed", "function", in.fn.Name, "request_id", inv.id)
		result = inv.failure("Sandbox.Timedout", fmt.Sprintf("Error: Task timed out after %.2f seconds", in.fn.Timeout.Seconds()))
	case <-ctx.Done():
		return Result{}, true, ctx.Err()
	}
	return result, true, nil
}

// lost is the result of an invocation whose process ended; an answer given just before still counts.
func (in *instance) lost(inv *invocation) Result {
	select {
	case result := <-inv.result:
		return result
	default:
	}
	reason := "exit status 0"
	if err := in.process.Err(); err != nil {
		reason = err.Error()
	}
	in.fn.Log.Warn("process ended during an invocation", "function", in.fn.Name, "request_id", inv.id, "reason", reason)
	return inv.failure("Runtime.ExitError", "Error: Runtime exited with error: "+reason)
}

func (in *instance) dead() bool {
	select {
	case <-in.process.Done():
		return true
	default:
		return false
	}
}

func (in *instance) pid() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.process == nil {
		return 0
	}
	return in.process.PID()
}

func (in *instance) close() {
	in.mu.Lock()
	process, server := in.process, in.server
	in.closed = true
	in.mu.Unlock()
	if process != nil {
		process.Kill()
	}
	if server != nil {
		_ = server.Close()
	}
}
