package function

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// instance is one process of a function and the Runtime API that only it talks to.
type instance struct {
	fn          *Function
	process     *child.Process // nil until it is started
	server      *http.Server
	invocations chan *invocation
	polled      chan struct{} // gets a value at the first poll
	current     atomic.Pointer[invocation]
}

func newInstance(f *Function) *instance {
	in := &instance{fn: f, invocations: make(chan *invocation), polled: make(chan struct{}, 1)}
	in.server = &http.Server{Handler: in.routes(), ReadHeaderTimeout: time.Minute}
	return in
}

// start brings the process up and waits for its first poll of the Runtime API.
func (in *instance) start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the Runtime API: %w", err)
	}
	go func() { _ = in.server.Serve(listener) }() // ends with ErrServerClosed

	cmd := exec.Command(in.fn.Binary) //nolint:gosec // the function itself, killed by close
	cmd.Dir = filepath.Dir(in.fn.Binary)
	cmd.Env = in.fn.environment(listener.Addr().String())
	cmd.Stdout, cmd.Stderr = in.fn.log, in.fn.log
	in.process, err = child.Start(cmd)
	if err != nil {
		return err
	}
	select {
	case <-in.polled:
		return nil
	case <-in.process.Done():
		return fmt.Errorf("process ended before its first poll, see the function's log: %w", errors.Join(in.process.Err()))
	case <-time.After(initTimeout):
		return fmt.Errorf("no poll within %s", initTimeout)
	case <-ctx.Done():
		return ctx.Err()
	case <-in.fn.life.Done():
		return errors.New("function is shut down")
	}
}

// run hands inv to the process and waits for the end of it. handed tells whether the process took it.
func (in *instance) run(ctx context.Context, inv *invocation) (result Result, handed bool, err error) {
	select {
	case in.invocations <- inv:
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
		result = inv.failure("Sandbox.Timedout",
			fmt.Sprintf("Error: Task timed out after %.2f seconds", in.fn.Timeout.Seconds()))
	case <-ctx.Done():
		return Result{}, true, ctx.Err()
	case <-in.fn.life.Done():
		return Result{}, true, errors.New("function is shut down")
	}
	return result, true, nil
}

// lost is the result of an invocation after the end of its process. An answer that came just before the end still
// counts.
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

func (in *instance) close() {
	if in.process != nil {
		in.process.Kill()
	}
	_ = in.server.Close()
}
