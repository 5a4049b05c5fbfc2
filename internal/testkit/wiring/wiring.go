// Package wiring helps to test the constructors of handlers: it loads their settings, and shows
// which AWS resource each of their parts calls.
package wiring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/config"
)

// Settings loads S from environment variables. It fails the test when S can be loaded without
// one of them, or when the error does not name that one.
func Settings[S any](t *testing.T, environment map[string]string) S {
	t.Helper()
	for missing := range environment {
		t.Run("without "+missing, func(t *testing.T) {
			for name, value := range environment {
				if name != missing {
					t.Setenv(name, value)
				}
			}
			_, err := config.Load[S]()
			if err == nil || !strings.Contains(err.Error(), missing) {
				t.Errorf("the error does not name %s: %v", missing, err)
			}
		})
	}
	for name, value := range environment {
		t.Setenv(name, value)
	}
	s, err := config.Load[S]()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// AWS refuses every call and remembers it. It is safe for concurrent use.
type AWS struct {
	mu    sync.Mutex
	calls map[string]bool
}

// Config returns the configuration of clients that call a.
func (a *AWS) Config() aws.Config {
	return aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""), HTTPClient: a,
		RetryMaxAttempts: 1,
	}
}

// Check fails the test unless the call of a handler's part goes to the resources of want, and to
// no others. Each is an operation and the table, queue or key that it names ("Query Endpoints");
// they are sorted.
func (a *AWS) Check(t *testing.T, call func() error, want ...string) {
	t.Helper()
	if err := call(); err == nil {
		t.Errorf("%q: a refused call succeeds", want)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(a.calls))); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	a.calls = nil
}

// Do takes one call of a client in place of the network.
func (a *AWS) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the call: %w", err)
	}
	var call any
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, fmt.Errorf("decoding the call: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[string]bool{}
	}
	for _, resource := range resources(call) {
		a.calls[operation+" "+resource] = true
	}
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"X-Amzn-Errortype": {"AccessDeniedException"}},
		Body: io.NopCloser(bytes.NewReader([]byte(`{"__type":"AccessDeniedException"}`))), Request: r,
	}, nil
}

// resources finds what a call names, however deep.
func resources(v any) []string {
	var found []string
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			switch name {
			case "TableName", "QueueUrl", "KeyId", "EventBusName", "logGroupName", "logStreamName":
				found = append(found, fmt.Sprint(member))
			case "RequestItems":
				found = append(found, slices.Collect(maps.Keys(member.(map[string]any)))...)
			default:
				found = append(found, resources(member)...)
			}
		}
	case []any:
		for _, member := range v {
			found = append(found, resources(member)...)
		}
	}
	return found
}
