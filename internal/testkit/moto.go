package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// Region is the region every test configuration names.
const Region = "us-east-1"

// motoStart is how long the emulator may take to answer; importing its Python packages is most of it.
const motoStart = 90 * time.Second

var startMoto = sync.OnceValues(launchMoto)

// Moto returns a configuration for an AWS emulator on loopback with made-up credentials.
// The first call in a test binary starts the emulator, the rest share it, and it ends with the binary;
// tests keep apart by using the names [Tables], [NewQueue] and [Key] make.
func Moto(t testing.TB) aws.Config {
	t.Helper()
	return configFor(MotoURL(t))
}

// MotoURL returns the base URL of the emulator of this test binary, starting it if need be.
func MotoURL(t testing.TB) string {
	t.Helper()
	url, err := startMoto()
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	return url
}

func configFor(url string) aws.Config {
	return aws.Config{
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider("testing", "testing", ""),
		BaseEndpoint: aws.String(url),
	}
}

// launchMoto starts the emulator on a free port; another process can take the port first, hence the tries.
func launchMoto() (string, error) {
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	python, err := findPython(root)
	if err != nil {
		return "", err
	}
	for range 3 {
		var port int
		if port, err = freePort(); err != nil {
			return "", err
		}
		url := fmt.Sprintf("http://127.0.0.1:%d", port)
		if err = runMoto(python, root, port, url); err == nil {
			return url, nil
		}
	}
	return "", err
}

// runMoto starts one emulator process and waits until it answers or has ended.
func runMoto(python, root string, port int, url string) error {
	args := []string{"-m", "moto.server"}
	if launcher := filepath.Join(root, "infra", "local", "moto.py"); fileExists(launcher) {
		args = []string{launcher}
	}
	cmd := exec.Command(python, append(args, "--host", "127.0.0.1", "--port", fmt.Sprint(port))...)
	cmd.Dir = root
	output := &tail{}
	cmd.Stdout, cmd.Stderr = output, output
	dieWithParent(cmd)
	ended, err := startAndHold(cmd)
	if err != nil {
		return fmt.Errorf("starting %s: %w", cmd, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), motoStart)
	defer cancel()
	for !answers(ctx, url) {
		select {
		case err := <-ended:
			return fmt.Errorf("%s ended before it answered: %w\n%s", cmd, err, output)
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s did not answer within %s\n%s", cmd, motoStart, output), cmd.Process.Kill())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// startAndHold starts cmd on a thread of its own and keeps that thread until cmd ends: the kernel's
// death signal fires when the thread that forked dies, not the process, and Go retires idle threads.
func startAndHold(cmd *exec.Cmd) (ended <-chan error, err error) {
	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		done <- errors.Join(errors.New("process ended"), cmd.Wait())
	}()
	return done, <-started
}

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/moto-api/data.json", nil)
	if err != nil {
		return false
	}
	res, err := plainHTTP.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// plainHTTP talks to the emulator only: no proxy variable of the machine may come between.
var plainHTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}

// findPython returns the interpreter that make installs, or else the machine's own when that has moto.
func findPython(root string) (string, error) {
	own := filepath.Join(root, ".venv", "bin", "python")
	if hasMoto(own) {
		return own, nil
	}
	if system, err := exec.LookPath("python3"); err == nil && hasMoto(system) {
		return system, nil
	}
	return "", errors.New("the AWS emulator is missing: neither .venv/bin/python nor python3 can import moto; run `make tools`")
}

func hasMoto(python string) bool {
	const probe = `import importlib.util, sys; sys.exit(0 if importlib.util.find_spec("moto") and importlib.util.find_spec("flask") else 1)`
	return fileExists(python) && exec.Command(python, "-c", probe).Run() == nil
}

// repositoryRoot walks up from the working directory of the test to the folder that holds go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !fileExists(filepath.Join(dir, "go.mod")) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
	return dir, nil
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// tail keeps the last few kilobytes written to it, to be shown when the emulator fails.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p...)
	if over := len(w.buf) - 4096; over > 0 {
		w.buf = append(w.buf[:0], w.buf[over:]...)
	}
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(bytes.TrimSpace(w.buf))
}
