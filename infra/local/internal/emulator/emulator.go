// Package emulator runs moto's server, deploys a template to it and reads back what was deployed.
//
// It promises a server that ends with this program and a stack whose event source mappings are
// all disabled in the emulator, which would otherwise poll the queues itself. It changes nothing else.
package emulator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/infra/local/internal/child"
)

// Account is the only account that the emulator knows.
const Account = "123456789012"

const portInUse = 98 // the launcher's exit status

// Emulator is a running server.
type Emulator struct {
	URL     *url.URL
	process *child.Process
}

// Options says how to start one.
type Options struct {
	Python   string
	Launcher string // moto.py
	Port     int    // 0 takes a free one
	LogFile  string // gets what the server prints
}

// Start starts the server and returns once it accepts connections.
func Start(ctx context.Context, o Options) (*Emulator, error) {
	logFile, err := os.Create(o.LogFile)
	if err != nil {
		return nil, fmt.Errorf("opening log: %w", err)
	}
	defer func() { _ = logFile.Close() }()                                    // the child holds its own
	cmd := exec.Command(o.Python, o.Launcher, "--port", strconv.Itoa(o.Port)) //nolint:gosec // this project's own script, killed by Close
	cmd.Stderr = logFile
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making pipe: %w", err)
	}
	defer func() { _ = out.Close() }()
	cmd.Stdout = in
	process, err := child.Start(cmd)
	_ = in.Close() // the child holds its own
	if err != nil {
		return nil, err
	}
	e := &Emulator{process: process}
	first := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n') // an empty line tells as much as an error
		first <- line
	}()
	select {
	case line := <-first:
		if err := e.listening(line, o); err != nil {
			e.Close()
			return nil, err
		}
		return e, nil
	case <-ctx.Done():
		e.Close()
		return nil, ctx.Err()
	}
}

// listening reads the launcher's first line, or the reason why there is none.
func (e *Emulator) listening(line string, o Options) error {
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if ok {
		var err error
		if e.URL, err = url.Parse(address); err == nil {
			return nil
		}
	}
	select {
	case <-e.process.Done():
	case <-time.After(5 * time.Second):
		return fmt.Errorf("the AWS emulator answered %q for its address", line)
	}
	var exit *exec.ExitError
	if errors.As(e.process.Err(), &exit) && exit.ExitCode() == portInUse {
		return fmt.Errorf("port %d is in use", o.Port)
	}
	output, _ := os.ReadFile(o.LogFile) // without it the exit status is told alone
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return fmt.Errorf("the AWS emulator did not start: %w: %s", e.process.Err(), lines[len(lines)-1])
}

// Done is closed when the server has ended.
func (e *Emulator) Done() <-chan struct{} { return e.process.Done() }

// PID is the server's process id.
func (e *Emulator) PID() int { return e.process.PID() }

// Close ends the server.
func (e *Emulator) Close() { e.process.Kill() }
