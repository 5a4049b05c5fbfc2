package testkit

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/herald-webhooks/herald/internal/testkit/emulator"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// region is the region of every test configuration.
const region = "us-east-1"

// startMoto starts the emulator of this test binary, which ends with the binary.
var startMoto = once(func(ctx context.Context, root string) (*emulator.Emulator, error) {
	return emulator.Start(ctx, root, "")
})

// secondEngine is the environment variable by which `make second-engine` has DynamoDB Local take the place of the
// emulator's own DynamoDB.
const secondEngine = "HERALD_SECOND_ENGINE"

// startDynamoDBLocal starts this test binary's.
var startDynamoDBLocal = once(emulator.StartDynamoDBLocal)

func once(
	start func(ctx context.Context, root string) (*emulator.Emulator, error),
) func() (*emulator.Emulator, error) {
	return sync.OnceValues(func() (*emulator.Emulator, error) {
		root, err := tools.Root()
		if err != nil {
			return nil, err
		}
		return start(context.Background(), root)
	})
}

// Moto returns a configuration for an AWS emulator on loopback with made-up credentials.
// The first call in a test binary starts the emulator, the rest share it, and it ends with the binary;
// tests keep apart by using the names [Tables], [NewQueue] and [Key] make.
func Moto(t testing.TB) aws.Config {
	t.Helper()
	if os.Getenv(secondEngine) != "" {
		return DynamoDBLocal(t)
	}
	return configFor(started(t, startMoto).String())
}

// DynamoDBLocal is [Moto] with AWS's own emulator of DynamoDB, which knows the units that a call consumes. `make
// second-engine` installs it.
func DynamoDBLocal(t testing.TB) aws.Config {
	t.Helper()
	cfg := configFor(started(t, startMoto).String())
	cfg.HTTPClient = engines{started(t, startDynamoDBLocal)}
	return cfg
}

// engines sends the calls to DynamoDB to an engine of their own.
type engines struct{ database *url.URL }

func (e engines) Do(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_") {
		r.URL.Host = e.database.Host
	}
	return plainHTTP.Do(r)
}

func started(t testing.TB, start func() (*emulator.Emulator, error)) *url.URL {
	t.Helper()
	running, err := start()
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	return running.URL
}

func configFor(url string) aws.Config {
	return aws.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider("testing", "testing", ""),
		BaseEndpoint: aws.String(url),
		HTTPClient:   plainHTTP,
	}
}

// plainHTTP talks to the emulator only: no proxy variable of the machine may come between.
var plainHTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
