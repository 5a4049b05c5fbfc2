//go:build emulator

package outbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// relayIn returns the command of a relay in a language, with options, whose times are in seconds.
func relayIn(t *testing.T, language string, options ...string) []string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if language == "python" {
		python, err := tools.Python(root)
		if err != nil {
			t.Fatal(err)
		}
		return append([]string{python, "python/relay.py"}, options...)
	}
	for n := 1; n < len(options); n += 2 {
		if options[n-1] != "-batch" && options[n-1] != "-most" {
			options[n] += "s"
		}
	}
	program := filepath.Join(t.TempDir(), "relay")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	cmd.Dir = "go"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the relay: %v\n%s", err, out)
	}
	return append([]string{program}, options...)
}

// runner is one relay, which is started again whenever it ends. It has a proxy and a queue of its own, so that a call
// says which relay makes it.
type runner struct {
	t       *testing.T
	command []string
	env     []string
	log     *os.File
	mu      sync.Mutex
	process *child.Process
	starts  int
	over    bool
}

// newRunner is a relay that has not started. At is asked at each of its calls.
func newRunner(t *testing.T, c cluster, q *queue, command []string, at func(r *runner, point string) bool) *runner {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "relay.log"))
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, command: command, log: log}
	mine := func(point string) bool { return at(r, point) }
	p := startProxy(t, fmt.Sprint("127.0.0.1:", c.port), mine)
	server := q.serve(t, mine)
	r.env = append(os.Environ(),
		"DATABASE_URL=postgres://postgres@"+p.listener.Addr().String()+"/"+c.name+"?sslmode=disable",
		"PGGSSENCMODE=disable", "EVENTS_QUEUE_URL="+server.URL+"/000000000000/events", "AWS_ENDPOINT_URL_SQS="+server.URL,
		"AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"PYTHONPATH=../publisher/python:../../../.tools/outbox")
	t.Cleanup(func() { _ = log.Close() })
	return r
}

// startRelay starts a relay, until the test ends.
func startRelay(t *testing.T, c cluster, q *queue, command []string, at func(r *runner, point string) bool) *runner {
	t.Helper()
	r := newRunner(t, c, q, command, at)
	r.start()
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.over = true
		r.process.Kill()
		if t.Failed() {
			text, _ := os.ReadFile(r.log.Name())
			t.Logf("a relay, started %d times:\n%.4000s", r.starts, text)
		}
	})
	return r
}

func (r *runner) start() {
	cmd := exec.Command(r.command[0], r.command[1:]...)
	cmd.Env = r.env
	cmd.Stdout, cmd.Stderr = r.log, r.log
	process, err := child.Start(cmd)
	if err != nil {
		r.t.Errorf("starting a relay: %v", err)
		return
	}
	r.process = process
	r.starts++
}

// kill ends the relay by SIGKILL, and starts it again.
func (r *runner) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.process.Kill()
	r.start()
}
