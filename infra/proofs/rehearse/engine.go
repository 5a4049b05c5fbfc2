package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/testkit/child"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// region is that of deploy.md's examples.
const region = "eu-central-1"

// startLimit bounds the engine's start, most of which is importing its Python packages.
const startLimit = 5 * time.Minute

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
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	e := &engine{url: "http://" + address, root: root, log: filepath.Join(work, "engine.log")}
	out, err := os.Create(e.log)
	if err != nil {
		return nil, fmt.Errorf("opening the engine's log: %w", err)
	}
	defer out.Close()                              // the child holds its own
	cmd := exec.Command(python, "-m", "ministack") //nolint:gosec // the tool of this checkout
	// It stores nothing, and listens on loopback alone, which is not its default. A new account may have ten executions.
	cmd.Env = e.environment("BIND_HOST=127.0.0.1", "GATEWAY_PORT="+strings.TrimPrefix(address, "127.0.0.1:"),
		"MINISTACK_REGION="+region, "LAMBDA_ACCOUNT_CONCURRENCY=10",
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

// freeAddress is one of loopback at which nothing listens.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// wait returns once the engine answers.
func (e *engine) wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		<-e.process.Done()
		cancel()
	}()
	err := client.Eventually(ctx, startLimit, "the engine", func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"/_ministack/health", nil)
		if err != nil {
			return false, fmt.Errorf("asking the engine: %w", err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, err
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, child.LastLine(e.log))
	}
	return nil
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
