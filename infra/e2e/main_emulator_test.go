//go:build emulator

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/client"
	"github.com/herald-webhooks/herald/infra/internal/process"
	"github.com/herald-webhooks/herald/infra/internal/receiver"
	"github.com/herald-webhooks/herald/infra/internal/statefile"
)

var (
	operator  *client.Client   // of the stack under test
	stateFile string           // of that stack
	exchanges *described       // what it and the clients made of it said
	server    *receiver.Server // every test's receivers
	root      string           // the checkout
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the tests wait, they do not compute
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if root, err = filepath.Abs("../.."); err != nil {
		return fail(err)
	}
	if stateFile = os.Getenv("HERALD_STACK"); stateFile != "" {
		state, err := statefile.Read(stateFile)
		if err != nil {
			return fail(err)
		}
		return test(m, state)
	}
	o, err := folder()
	if err != nil {
		return fail(err)
	}
	stack, err := process.Start(context.Background(), o)
	if err != nil {
		return fail(err)
	}
	stateFile = o.StateFile()
	code := test(m, stack.State)
	if err := ended(stack, o); err != nil {
		return fail(err)
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

func test(m *testing.M, state statefile.State) int {
	var err error
	if server, err = receiver.Start(state.ReceiverCertFile, state.ReceiverKeyFile); err != nil {
		return fail(err)
	}
	defer server.Close() //nolint:errcheck // the tests are over
	operator = client.New(state)
	if err = useProfile(); err != nil {
		return fail(err)
	}
	if exchanges, err = describe(operator, filepath.Join(root, "infra", "openapi.yaml")); err != nil {
		return fail(err)
	}
	code := m.Run()
	if err := exchanges.verdict(); err != nil {
		return fail(err)
	}
	return code
}

// folder gives the tests' stack a folder beside the one of `make stack`, with the same builds.
func folder() (process.Options, error) {
	local := filepath.Join(root, ".local")
	o := process.Options{
		Binary: filepath.Join(local, "bin", "stack"), Root: root,
		Dir: filepath.Join(local, "e2e"), Log: filepath.Join(local, "e2e", "logs", "stack.log"),
	}
	if _, err := os.Stat(o.Binary); err != nil {
		return o, fmt.Errorf("the stack is not built, run `make build`: %w", err)
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return o, fmt.Errorf("making folder: %w", err)
	}
	for _, built := range []string{"functions", "bin"} {
		err := os.Symlink(filepath.Join(local, built), filepath.Join(o.Dir, built))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return o, fmt.Errorf("linking %s: %w", built, err)
		}
	}
	return o, nil
}

// ended stops the stack by SIGTERM and looks for what it must not leave behind.
func ended(stack *process.Stack, o process.Options) error {
	before, err := descendants(stack.PID())
	if err != nil {
		return err
	}
	if len(before) < 3 { // the emulator and some functions
		return fmt.Errorf("only %v were found below the running stack: the search for orphans proves nothing", before)
	}
	if err := stack.Stop(); err != nil {
		return err
	}
	if _, err := os.Stat(o.StateFile()); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the state file outlived the stack: %w", err)
	}
	return client.Eventually(context.Background(), 5*time.Second, "every process of the stack to be gone",
		func(context.Context) (bool, error) {
			for pid, path := range before {
				if path != "" && executable(pid) == path {
					return false, fmt.Errorf("process %d was left behind: %s", pid, path)
				}
			}
			return true, nil
		})
}
