package published

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

// startLimit bounds how long a receiver takes to say where it listens.
const startLimit = time.Minute

// Receiver is a running receiver.
type Receiver struct {
	URL *url.URL
	Works

	process *child.Process
	printed *os.File
	work    *httptest.Server
}

// Start builds the language's receiver, has it listen on a free loopback port and returns it. It accepts
// each of the secrets, and runs until Close.
func (l Language) Start(ctx context.Context, p Place, secrets ...string) (*Receiver, error) {
	printed, err := os.Create(filepath.Join(p.Scratch, "printed"))
	if err != nil {
		return nil, fmt.Errorf("the %s receiver: %w", l.Name, err)
	}
	r := &Receiver{printed: printed}
	if err = l.prepare(ctx, p, printed); err == nil {
		err = r.run(ctx, l.words(l.command, p), secrets)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("the %s receiver: %w\n%s", l.Name, err, r.Printed())
	}
	return r, nil
}

func (r *Receiver) run(ctx context.Context, words, secrets []string) error {
	r.work = httptest.NewServer(&r.Works)
	cmd := exec.Command(words[0], words[1:]...) //nolint:gosec // our own table; Close ends it
	cmd.Env = append(os.Environ(), "SIGNING_SECRETS="+strings.Join(secrets, ","), "WORK="+r.work.URL)
	cmd.Stderr = r.printed
	var line string
	var err error
	r.process, line, err = child.StartTelling(ctx, cmd, startLimit, r.printed)
	if err != nil {
		return err
	}
	r.URL, err = url.Parse(line)
	if err == nil && r.URL.Scheme != "http" {
		err = fmt.Errorf("it printed %q and no URL", line)
	}
	return err
}

// Close ends the receiver.
func (r *Receiver) Close() {
	if r.process != nil {
		r.process.Kill()
	}
	if r.work != nil {
		r.work.Close() // every test that waited for work has ended
	}
	_ = r.printed.Close()
}

// PID is the receiver's process id.
func (r *Receiver) PID() int { return r.process.PID() }

// Printed is the output of the receiver so far.
func (r *Receiver) Printed() string {
	text, err := os.ReadFile(r.printed.Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}
