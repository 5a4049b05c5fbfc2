package config_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/edges/config"
)

func TestLoad_readsItsOwnTypes(t *testing.T) {
	type settings struct {
		On   config.Switch  `env:"TEST_SWITCH"`
		Wait config.Seconds `env:"TEST_WAIT"`
	}
	// Package coldstart names variables that are empty or malformed, without their values.
	if _, err := config.Load[settings](); err == nil || !strings.Contains(err.Error(), "TEST_WAIT") {
		t.Errorf("without variables: %v", err)
	}
	t.Setenv("TEST_WAIT", "15")
	for text, want := range map[string]bool{"on": true, "off": false} {
		t.Setenv("TEST_SWITCH", text)
		got, err := config.Load[settings]()
		if err != nil || bool(got.On) != want || got.Wait.Duration() != 15*time.Second {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	t.Setenv("TEST_SWITCH", "true")
	if _, err := config.Load[settings](); err == nil || !strings.Contains(err.Error(), "TEST_SWITCH") {
		t.Errorf("another word: %v", err)
	}
}

// A throttled call is tried three times, with the role's session token and in its region.
func TestAWS_callsAreSignedAndTriedThreeTimes(t *testing.T) {
	requests := make(chan http.Header, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Header
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"ThrottlingException"}`)
	}))
	t.Cleanup(server.Close)
	environment(t)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	cfg, err := config.AWS()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{}); err == nil {
		t.Error("a throttled call succeeds")
	}
	if len(requests) != 3 {
		t.Fatalf("%d calls, want 3", len(requests))
	}
	for range 3 {
		header := <-requests
		authorization := header.Get("Authorization")
		for _, part := range []string{"AKID/", "/eu-central-1/sqs/"} {
			if !strings.Contains(authorization, part) {
				t.Errorf("signed as %q, without %q", authorization, part)
			}
		}
		if token := header.Get("X-Amz-Security-Token"); token != "session" {
			t.Errorf("the session token is %q", token)
		}
	}
}

// A try that hangs costs seconds of a function's time, not all of it: the next one succeeds.
func TestAWS_givesUpATryThatHangs(t *testing.T) {
	var tries atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(server.Close)
	environment(t)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	cfg, err := config.AWS()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{}); err != nil {
		t.Error(err)
	}
	if n := tries.Load(); n != 2 {
		t.Errorf("%d tries, want 2", n)
	}
}

func environment(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush",
		"AWS_SESSION_TOKEN": "session", "AWS_ENDPOINT_URL": "",
	} {
		t.Setenv(name, value)
	}
}
