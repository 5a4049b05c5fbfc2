package testkit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/herald-webhooks/herald/internal/testkit/emulator"
)

// region is the region of every test configuration.
const region = "us-east-1"

// startMoto starts the emulator of this test binary, which ends with the binary.
var startMoto = sync.OnceValues(func() (*emulator.Emulator, error) {
	return emulator.Start(context.Background(), emulator.Options{})
})

// secondEngine is the environment variable by which `make second-engine` has DynamoDB Local take the place of the
// emulator's own DynamoDB.
const secondEngine = "HERALD_SECOND_ENGINE"

// startDynamoDBLocal starts this test binary's.
var startDynamoDBLocal = sync.OnceValues(func() (*emulator.Emulator, error) {
	return emulator.StartDynamoDBLocal(context.Background(), emulator.Options{})
})

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
	moto, database := started(t, startMoto), started(t, startDynamoDBLocal)
	both := httptest.NewServer(&httputil.ReverseProxy{
		Transport: plainHTTP.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			to := moto
			if strings.HasPrefix(r.In.Header.Get("X-Amz-Target"), "DynamoDB_") {
				to = database
			}
			r.SetURL(to)
			r.Out.Host = r.In.Host // part of the signature and of the queue URLs that come back
		},
	})
	t.Cleanup(both.Close)
	return configFor(both.URL)
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
	}
}

// plainHTTP talks to the emulator only: no proxy variable of the machine may come between.
var plainHTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
