package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/herald-webhooks/herald/internal/testkit/child"
)

const (
	coldStarts   = 9
	maxColdStart = 100 * time.Millisecond
	maxBinary    = 12_000_000 // bytes, the unit the table prints
)

// functions weighs every function's binary and times its start.
func (d *demo) functions(ctx context.Context) error {
	heading("Functions: binary size, process start to first Runtime API poll (median of %d)", coldStarts)
	var slowest time.Duration
	var largest int64
	for _, name := range slices.Sorted(maps.Keys(d.client.Functions)) {
		binary := filepath.Join(d.options.stack.Dir, "functions", name, "bootstrap")
		info, err := os.Stat(binary)
		if err != nil {
			return fmt.Errorf("weighing function: %w", err)
		}
		env, err := d.environment(ctx, name)
		if err != nil {
			return err
		}
		starts := make([]time.Duration, 0, coldStarts)
		for range coldStarts {
			start, err := coldStart(ctx, binary, env)
			if err != nil {
				return fmt.Errorf("starting %s: %w", name, err)
			}
			starts = append(starts, start)
		}
		fmt.Printf("  %-12s %6.2f MB %6d ms\n", name, float64(info.Size())/1e6, median(starts).Milliseconds())
		slowest, largest = max(slowest, median(starts)), max(largest, info.Size())
	}
	d.check(largest <= maxBinary, "largest binary %.2f MB, at most 12", float64(largest)/1e6)
	d.check(slowest <= maxColdStart, "slowest median start %d ms, at most 100", slowest.Milliseconds())
	return nil
}

// environment is what the deployed function is given.
func (d *demo) environment(ctx context.Context, name string) ([]string, error) {
	deployed := lambda.NewFromConfig(aws.Config{
		Region: d.client.Region, BaseEndpoint: aws.String(d.client.AWSEndpointURL),
		Credentials: d.client.SQS.Options().Credentials,
	})
	out, err := deployed.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{
		FunctionName: aws.String(d.client.Functions[name]),
	})
	if err != nil {
		return nil, fmt.Errorf("reading configuration of %s: %w", name, err)
	}
	env := []string{
		"AWS_REGION=" + d.client.Region, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_ENDPOINT_URL=" + d.client.AWSEndpointURL, "AWS_LAMBDA_FUNCTION_NAME=" + d.client.Functions[name],
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "_HANDLER=bootstrap",
	}
	if out.Environment != nil {
		for key, value := range out.Environment.Variables {
			env = append(env, key+"="+value)
		}
	}
	return env, nil
}

// coldStart runs the binary against a Runtime API that only waits for its first poll.
func coldStart(ctx context.Context, binary string, env []string) (time.Duration, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("listening: %w", err)
	}
	polled := make(chan time.Time, 1)
	api := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case polled <- time.Now():
			default:
			}
			<-r.Context().Done()
		}),
	}
	go func() { _ = api.Serve(listener) }()
	defer api.Close() //nolint:errcheck // nothing is under way that matters
	cmd := exec.Command(binary)
	cmd.Env = append(slices.Clone(env), "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String())
	began := time.Now()
	process, err := child.Start(cmd)
	if err != nil {
		return 0, err
	}
	defer process.Kill()
	select {
	case at := <-polled:
		return at.Sub(began), nil
	case <-process.Done():
		return 0, errors.Join(errors.New("ended without polling"), process.Err())
	case <-time.After(10 * time.Second):
		return 0, errors.New("did not poll within 10 s")
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
