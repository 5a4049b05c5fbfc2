// Package function runs a compiled Lambda function on this machine as Lambda runs it on its own.
//
// It promises the Runtime API as aws-lambda-go and any custom runtime speak it, one invocation at a time
// per process, warm processes used again, a process of its own for every concurrent invocation, the
// function's timeout enforced by killing, and an environment without anything of this program's own.
// It never retries an invocation: what was handed to a process and failed is the caller's to judge.
package function

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Limits of Lambda.
const (
	MaxPayload  = 6 << 20 // bytes of a synchronous invocation's payload, and of its answer
	initTimeout = 10 * time.Second
	processes   = 100 // of one function without reserved concurrency, for the sake of the machine
)

// ErrThrottled says that every process the function may have is busy.
var ErrThrottled = errors.New("rate exceeded")

// Config describes one function. All but Concurrency, LogFormat and LogLevel is required.
type Config struct {
	Name        string
	ARN         string
	Region      string
	Handler     string
	MemoryMB    int
	Timeout     time.Duration
	Concurrency int               // reserved concurrency, 0 for none
	LogFormat   string            // JSON or Text
	LogLevel    string            // of the application
	Variables   map[string]string // the function's own
	Host        map[string]string // added by the host on top of what Lambda sets
	Binary      string            // the compiled bootstrap
	LogFile     string            // gets standard output and error of every process
	Log         *slog.Logger      // tells of processes started, killed and lost
}

// Result is the outcome of an invocation that reached the function, or failed in its place.
type Result struct {
	RequestID string
	Payload   []byte // the answer, or the error document when Error is set
	Error     string // "Unhandled" when the invocation failed, else empty
}

// Function is a deployed function and its processes.
type Function struct {
	Config
	log *os.File

	mu     sync.Mutex
	idle   []*instance
	all    map[*instance]struct{}
	closed bool
}

// New prepares a function; no process starts before its first invocation.
func New(c Config) (*Function, error) {
	if info, err := os.Stat(c.Binary); err != nil || info.IsDir() {
		return nil, fmt.Errorf("function %s has no binary at %s: run `make build`", c.Name, c.Binary)
	}
	log, err := os.OpenFile(c.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening log of function %s: %w", c.Name, err)
	}
	if c.Concurrency == 0 {
		c.Concurrency = processes
	}
	return &Function{Config: c, log: log, all: map[*instance]struct{}{}}, nil
}

// Invoke runs the function once with payload. ErrThrottled means that it was not run.
func (f *Function) Invoke(ctx context.Context, payload []byte) (Result, error) {
	inv := newInvocation(payload)
	for {
		in, err := f.take(ctx, inv)
		if err != nil {
			return Result{}, err
		}
		if in == nil {
			return inv.failure("Runtime.ExitError", "Error: Runtime exited before it asked for an invocation"), nil
		}
		result, handed, err := in.run(ctx, inv)
		if err != nil {
			f.drop(in)
			return Result{}, err
		}
		if !handed { // the idle process had died: nothing was lost, take another
			f.drop(in)
			continue
		}
		f.release(in)
		return result, nil
	}
}

// take returns an idle process or starts one; nil when the new process did not come up.
func (f *Function) take(ctx context.Context, inv *invocation) (*instance, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, fmt.Errorf("function %s is shut down", f.Name)
	}
	if n := len(f.idle); n > 0 {
		in := f.idle[n-1]
		f.idle = f.idle[:n-1]
		f.mu.Unlock()
		return in, nil
	}
	if len(f.all) >= f.Concurrency {
		f.mu.Unlock()
		return nil, ErrThrottled
	}
	in := &instance{fn: f}
	f.all[in] = struct{}{}
	f.mu.Unlock()

	if err := in.start(ctx); err != nil {
		f.drop(in)
		f.Log.Error("process did not start", "function", f.Name, "request_id", inv.id, "error", err.Error())
		return nil, ctx.Err()
	}
	return in, nil
}

func (f *Function) release(in *instance) {
	if in.dead() {
		f.drop(in)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.idle = append(f.idle, in)
	}
}

func (f *Function) drop(in *instance) {
	in.close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, in)
}

// Close kills every process. Invocations in progress fail.
func (f *Function) Close() {
	f.mu.Lock()
	f.closed = true
	all := make([]*instance, 0, len(f.all))
	for in := range f.all {
		all = append(all, in)
	}
	f.mu.Unlock()
	for _, in := range all {
		in.close()
	}
	_ = f.log.Close()
}
