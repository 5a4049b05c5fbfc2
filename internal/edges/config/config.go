// Package config reads a function's environment once, at cold start, into one struct, opens the AWS configuration, and
// holds both for the function's constructor. It promises that all errors come in one. It knows no function's settings:
// each declares its own struct.
package config

import (
	"crypto/fips140"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/caarlos0/env/v11"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
)

// Version is the release, set by the linker.
var Version = "dev"

// FIPSModule is the version of the Go Cryptographic Module where the program is in FIPS 140-3 mode; empty in any other.
func FIPSModule() string {
	if !fips140.Enabled() {
		return ""
	}
	return fips140.Version()
}

// UserAgent is the User-Agent of every delivery.
func UserAgent() string { return "Herald/" + Version }

// Function holds the arguments of a function's constructor: the function's settings, and the clients and logs that its
// parts share for the life of the process.
type Function[S any] struct {
	Settings S
	AWS      aws.Config
	Log      *slog.Logger
	Metrics  *telemetry.Metrics // on the log's stream
}

// Load reads T's `env:"NAME"` fields. Every field without a default is required; the error
// names all variables that are missing or malformed, and shows none of their values.
func Load[T any]() (T, error) {
	settings, err := env.ParseAsWithOptions[T](env.Options{RequiredIfNoDef: true})
	if err != nil {
		return settings, fmt.Errorf("reading the environment: %w", withoutValues(err, reflect.TypeFor[T]()))
	}
	return settings, nil
}

// withoutValues replaces the parser's errors, which quote the values.
func withoutValues(err error, settings reflect.Type) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	for i, err := range all.Errors {
		var malformed env.ParseError
		if errors.As(err, &malformed) {
			field, _ := settings.FieldByName(malformed.Name)
			name, _, _ := strings.Cut(field.Tag.Get("env"), ",")
			all.Errors[i] = fmt.Errorf("environment variable %q is not of type %s", name, malformed.Type.Kind())
		}
	}
	return all
}

// AWS returns the configuration of every AWS client, read from the environment alone: Lambda
// gives nothing else, and the SDK's default chain (SSO, EC2, profiles) costs 1.7 MB a binary.
// Retries are the SDK's standard: a throttled call is tried three times within its caller's
// deadline, and a try that hangs is given up for another.
func AWS() (aws.Config, error) {
	e, err := awsconfig.NewEnvConfig()
	if err != nil {
		return aws.Config{}, fmt.Errorf("loading the AWS configuration: %w", err)
	}
	if e.Region == "" || !e.Credentials.HasKeys() {
		return aws.Config{}, errors.New(
			"loading the AWS configuration: AWS_REGION and the role's credentials are not in the environment")
	}
	cfg := aws.Config{
		Region:        e.Region,
		Credentials:   credentials.StaticCredentialsProvider{Value: e.Credentials},
		ConfigSources: []any{e},
		HTTPClient:    awshttp.NewBuildableClient().WithTimeout(tryTimeout).WithTransportOptions(keepConnections),
	}
	if e.BaseEndpoint != "" {
		cfg.BaseEndpoint = &e.BaseEndpoint
	}
	return cfg, nil
}

// keepConnections keeps all: release reads the shards of Backlog at once, and deliver writes the state of each delivery
// that failed. The SDK keeps ten, and each other call would begin with a handshake.
func keepConnections(t *http.Transport) { //nolint:forbidigo // the SDK's own, for AWS
	t.MaxIdleConnsPerHost = t.MaxIdleConns
}

// tryTimeout bounds one try of an AWS call, which takes milliseconds when all is well, or a second where it waits for
// messages. A shorter one would repeat calls that are merely slow.
const tryTimeout = 3 * time.Second

// Seconds is a number of whole seconds in the environment.
type Seconds int

// Duration converts to a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) * time.Second }

// Days is a number of whole days in the environment; 0 usually means for ever.
type Days uint

// Duration converts to a time.Duration.
func (d Days) Duration() time.Duration { return time.Duration(d) * 24 * time.Hour } //nolint:gosec // few

// Switch is "on" or "off" in the environment.
type Switch bool

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Switch) UnmarshalText(text []byte) error {
	switch string(text) {
	case "on", "off":
		*s = string(text) == "on"
		return nil
	}
	return errors.New("must be on or off")
}
