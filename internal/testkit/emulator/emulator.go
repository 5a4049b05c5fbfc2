// Package emulator runs moto's server, the emulator of AWS behind tests, local stack and benchmark, and DynamoDB
// Local, a second opinion on its DynamoDB.
//
// It promises a server on loopback that accepts connections when Start returns, runs the launcher of
// infra/local/moto.py or infra/local/DynamoDBLocal.java, and ends with the program, however the program ends. It
// deploys nothing.
package emulator

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Account is the only account that the emulator knows.
const Account = "123456789012"

const startLimit = 5 * time.Minute // importing its Python packages is most of it

// Emulator is a running server.
type Emulator struct {
	URL *url.URL

	process *child.Process
	life    io.Closer // the server ends when this closes, with the program at the latest
}

// Start starts the server of the checkout and returns once it accepts connections. Its output goes to the log file, or
// without one to a temporary file that is removed once it runs.
func Start(ctx context.Context, root, logFile string) (*Emulator, error) {
	python, err := tools.Python(root)
	if err != nil {
		return nil, err
	}
	return start(ctx, root, logFile, exec.Command(python, filepath.Join(root, "infra", "local", "moto.py")))
}

// StartDynamoDBLocal starts AWS's own emulator of DynamoDB, as `make second-engine` installs it, with the JDK's java.
func StartDynamoDBLocal(ctx context.Context, root string) (*Emulator, error) {
	java, folder, err := tools.DynamoDBLocal(root)
	if err != nil {
		return nil, err
	}
	libraries := filepath.Join(folder, "DynamoDBLocal_lib")
	return start(ctx, root, "", exec.Command(java, "-XX:TieredStopAtLevel=1", "-Djava.library.path="+libraries,
		"-cp", filepath.Join(folder, "DynamoDBLocal.jar")+string(os.PathListSeparator)+filepath.Join(libraries, "*"),
		filepath.Join(root, "infra", "local", "DynamoDBLocal.java")))
}

// start runs a launcher, which prints where it listens.
func start(ctx context.Context, root, logFile string, cmd *exec.Cmd) (*Emulator, error) {
	log, err := openLog(logFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the child holds its own
	if logFile == "" {
		defer func() { _ = os.Remove(log.Name()) }()
	}
	cmd.Dir, cmd.Stderr = root, log
	life, err := cmd.StdinPipe() // open as long as the program lives: the launcher ends with it
	if err != nil {
		return nil, fmt.Errorf("starting the AWS emulator: %w", err)
	}
	process, line, err := child.StartTelling(ctx, cmd, startLimit, io.Discard)
	if err != nil {
		return nil, fmt.Errorf("starting the AWS emulator: %w: %s", err, child.LastLine(log.Name()))
	}
	e := &Emulator{process: process, life: life}
	address, found := strings.CutPrefix(line, "listening on ")
	e.URL, err = url.Parse(address)
	if err != nil || !found {
		e.Close()
		return nil, fmt.Errorf("the AWS emulator answered %q for its address", line)
	}
	return e, nil
}

func openLog(name string) (file *os.File, err error) {
	if name == "" {
		file, err = os.CreateTemp("", "herald-moto-*.log")
	} else {
		file, err = os.Create(name)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the emulator's log: %w", err)
	}
	return file, nil
}

// Done is closed when the server has ended.
func (e *Emulator) Done() <-chan struct{} { return e.process.Done() }

// PID is the server's process id.
func (e *Emulator) PID() int { return e.process.PID() }

// Close ends the server.
func (e *Emulator) Close() {
	e.process.Kill()
	_ = e.life.Close() // closed already, by the end of the process
}
