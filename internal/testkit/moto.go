package testkit

import (
	"context"
	"net/http"
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

// Moto returns a configuration for an AWS emulator on loopback with made-up credentials.
// The first call in a test binary starts the emulator, the rest share it, and it ends with the binary;
// tests keep apart by using the names [Tables], [NewQueue] and [Key] make.
func Moto(t testing.TB) aws.Config {
	t.Helper()
	moto, err := startMoto()
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	return configFor(moto.URL.String())
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
