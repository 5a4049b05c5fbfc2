package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// region is that of deploy.md's examples.
const region = "eu-central-1"

// startLimit bounds the engine's start, most of which is importing its Python packages.
const startLimit = 90 * time.Second

// engine is MiniStack, which executes CloudFormation's change sets with AWS's own SAM translator, and runs functions
// as processes of this machine.
type engine struct {
	url     string
	process *child.Process
	root    string // the checkout
	log     string
}

// startEngine starts MiniStack on a free loopback port. Functions trust the authority of the receiver.
func startEngine(ctx context.Context, root, work, authority string) (*engine, error) {
	python, err := tools.Python(root)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	e := &engine{url: "http://127.0.0.1:" + strconv.Itoa(port), root: root, log: filepath.Join(work, "engine.log")}
	out, err := os.Create(e.log)
	if err != nil {
		return nil, fmt.Errorf("opening the engine's log: %w", err)
	}
	defer out.Close()                              // the child holds its own
	cmd := exec.Command(python, "-m", "ministack") //nolint:gosec // the tool of this checkout
	// It stores nothing, and listens on loopback alone, which is not its default. A new account may have ten executions.
	cmd.Env = e.environment("BIND_HOST=127.0.0.1", "GATEWAY_PORT="+strconv.Itoa(port), "MINISTACK_REGION="+region,
		"LAMBDA_ACCOUNT_CONCURRENCY=10",
		"SSL_CERT_FILE="+authority, "TMPDIR="+work)
	cmd.Dir = work
	cmd.Stdout = out
	cmd.Stderr = out
	e.process, err = child.Start(cmd)
	if err != nil {
		return nil, err
	}
	if err := e.wait(ctx); err != nil {
		e.process.Kill()
		return nil, err
	}
	return e, nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a port: %w", err)
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("finding a port: the listener has none")
	}
	return address.Port, nil
}

// wait returns once the engine answers.
func (e *engine) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/_ministack/health", nil)
		if err != nil {
			return fmt.Errorf("starting the engine: %w", err)
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close() // its status is all that counts
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-e.process.Done():
			return fmt.Errorf("the engine ended: %s", child.LastLine(e.log))
		case <-ctx.Done():
			return fmt.Errorf("the engine does not answer: %s", child.LastLine(e.log))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// environment is this process's environment with made-up credentials. It lacks every variable that could lead a command
// to AWS.
func (e *engine) environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(strings.ToLower(v), "http_proxy=") ||
			strings.HasPrefix(strings.ToLower(v), "https_proxy=")
	})
	return slices.Concat(env, []string{
		"AWS_ENDPOINT_URL=" + e.url, "AWS_ACCESS_KEY_ID=rehearsal", "AWS_SECRET_ACCESS_KEY=rehearsal",
		"AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "SAM_CLI_TELEMETRY=0",
		"PATH=" + filepath.Join(e.root, ".venv", "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	}, more)
}

// run runs a program of the tools against the engine and returns its output.
func (e *engine) run(ctx context.Context, words ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(e.root, ".venv", "bin", words[0]), words[1:]...) //nolint:gosec // ours
	cmd.Env = e.environment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return out, nil
}

func (e *engine) config() aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(e.url),
		Credentials: credentials.NewStaticCredentialsProvider("rehearsal", "rehearsal", ""),
	}
}

// lastLine is the last line of the engine's log, for errors.
func lastLine(e *engine) string { return child.LastLine(e.log) }
