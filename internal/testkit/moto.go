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

// region is the one that every test configuration names.
const region = "us-east-1"

// startMoto starts the emulator of this test binary, which ends with the binary.
var startMoto = sync.OnceValues(func() (*emulator.Emulator, error) {
	return emulator.Start(context.Background(), emulator.Options{})
})

// SecondEngine is the environment variable that names a server of DynamoDB which takes the place of the
// emulator's own: infra/secondengine compares the two.
const SecondEngine = "HERALD_DYNAMODB_URL"

// Moto returns a configuration for an AWS emulator on loopback with made-up credentials.
// The first call in a test binary starts the emulator, the rest share it, and it ends with the binary;
// tests keep apart by using the names [Tables], [NewQueue] and [Key] make.
func Moto(t testing.TB) aws.Config {
	t.Helper()
	moto, err := startMoto()
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	second := os.Getenv(SecondEngine)
	if second == "" {
		return configFor(moto.URL.String())
	}
	database, err := url.Parse(second)
	if err != nil {
		t.Fatalf("testkit: %s: %v", SecondEngine, err)
	}
	both := httptest.NewServer(&httputil.ReverseProxy{
		Transport: plainHTTP.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			to := moto.URL
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

func configFor(url string) aws.Config {
	return aws.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider("testing", "testing", ""),
		BaseEndpoint: aws.String(url),
	}
}

// plainHTTP talks to the emulator only: no proxy variable of the machine may come between.
var plainHTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
