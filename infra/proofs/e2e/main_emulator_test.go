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

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	local "github.com/herald-webhooks/herald/infra/local/stack"
)

var (
	operator  *client.Client   // of the stack under test
	stateFile string           // of that stack
	exchanges *described       // its requests and answers, checked against openapi.yaml
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
	if root, err = filepath.Abs("../../.."); err != nil {
		return fail(err)
	}
	dir, err := folder()
	if err != nil {
		return fail(err)
	}
	stack, err := local.Start(context.Background(), local.Options{Root: root, Dir: dir})
	if err != nil {
		return fail(err)
	}
	defer stack.Close()
	stateFile = filepath.Join(dir, statefile.Name)
	return test(m, stack.State)
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

// folder makes a folder for the tests' stack next to that of `make stack`, with the same builds.
func folder() (dir string, err error) {
	local := filepath.Join(root, ".local")
	dir = filepath.Join(local, "e2e")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("making folder: %w", err)
	}
	for _, built := range []string{"functions", "bin"} {
		err := os.Symlink(filepath.Join(local, built), filepath.Join(dir, built))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("linking %s: %w", built, err)
		}
	}
	return dir, nil
}
