// Package config reads a function's environment once, at cold start, into one struct, and
// opens the AWS configuration. It promises that all faults come in one error. It knows no
// function's settings: each declares its own struct.
package config

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/caarlos0/env/v11"
)

// Version is the release, set by the linker.
var Version = "dev"

// UserAgent is the User-Agent of every delivery.
func UserAgent() string { return "Herald/" + Version }

// Load reads T's `env:"NAME"` fields. Every field without a default is required; the error
// names all that are missing or malformed, never a value.
func Load[T any]() (T, error) {
	settings, err := env.ParseAsWithOptions[T](env.Options{RequiredIfNoDef: true})
	if err != nil {
		return settings, fmt.Errorf("reading the environment: %w", err)
	}
	return settings, nil
}

// AWS returns the configuration of every AWS client: standard retries, so that a throttled
// call is tried three times within its caller's deadline.
func AWS(ctx context.Context) (aws.Config, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 3
			o.MaxBackoff = 2 * time.Second
		})
	}))
	if err != nil {
		return cfg, fmt.Errorf("loading the AWS configuration: %w", err)
	}
	return cfg, nil
}

// Seconds is a number of whole seconds in the environment.
type Seconds int

// Duration converts to a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }
