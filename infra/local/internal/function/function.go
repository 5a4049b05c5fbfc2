// Package function runs a compiled Lambda function on this machine as Lambda runs it on its own.
//
// It promises the Runtime API as aws-lambda-go speaks it. Each process handles one invocation at a time, warm processes
// are used again, and concurrent invocations never share a process. A process that exceeds the function's timeout is
// killed. The function's environment has nothing of this program's own. The package never retries an invocation: its
// caller judges failures.
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
	MaxPayload  = 6 << 20 // bytes of an invocation's payload, and of its answer
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
	Host        map[string]string // added by the host on top of Lambda's
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
	log   *os.File
	life  context.Context // of every process
	end   context.CancelFunc
	slots chan struct{} // holds one for each process, the idle ones included

	mu   sync.Mutex
	idle []*instance
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
	f := &Function{Config: c, log: log, slots: make(chan struct{}, c.Concurrency)}
	f.life, f.end = context.WithCancel(context.Background())
	return f, nil
}

// Invoke runs the function once with payload. ErrThrottled means that it was not run.
func (f *Function) Invoke(ctx context.Context, payload []byte) (Result, error) {
	return f.InvokeBy(ctx, "", payload)
}

// InvokeBy is Invoke by an alias, "" for none, of which the function hears.
func (f *Function) InvokeBy(ctx context.Context, alias string, payload []byte) (Result, error) {
	inv := f.invocation(alias, payload)
	for {
		in, err := f.take()
		if err != nil {
			return Result{}, err
		}
		if in.process == nil {
			if err := in.start(ctx); err != nil {
				f.drop(in)
				f.Log.Error("process did not start", "function", f.Name, "request_id", inv.id, "error", err.Error())
				return inv.failure("Runtime.ExitError", "Error: Runtime exited before it asked for an invocation"), ctx.Err()
			}
		}
		result, handed, err := in.run(ctx, inv)
		switch {
		case err != nil:
			f.drop(in)
			return Result{}, err
		case handed:
			f.release(in)
			return result, nil
		}
		f.drop(in) // the idle process had died: nothing was lost, take another
	}
}

// take returns the process that was idle last, or a new one that is yet to be started.
func (f *Function) take() (*instance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil {
		return nil, fmt.Errorf("function %s is shut down", f.Name)
	}
	if last := len(f.idle) - 1; last >= 0 {
		in := f.idle[last]
		f.idle = f.idle[:last]
		return in, nil
	}
	select {
	case f.slots <- struct{}{}:
		return newInstance(f), nil
	default:
		return nil, ErrThrottled
	}
}

func (f *Function) release(in *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil || in.dead() {
		f.drop(in)
		return
	}
	f.idle = append(f.idle, in)
}

// drop ends a process that somebody took.
func (f *Function) drop(in *instance) {
	in.close()
	<-f.slots
}

// Close kills every process and waits for their end. Invocations in progress fail. It may be called only once.
func (f *Function) Close() {
	f.end()
	f.mu.Lock()
	for _, in := range f.idle {
		f.drop(in)
	}
	f.idle = nil
	f.mu.Unlock()
	for range cap(f.slots) {
		f.slots <- struct{}{} // free when its process has ended; never given back
	}
	_ = f.log.Close()
}
