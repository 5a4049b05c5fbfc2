package coldstart_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/coldstart"
	"github.com/herald-webhooks/herald/internal/edges/config"
)

type settings struct {
	Table string         `env:"TEST_TABLE,notEmpty"`
	Limit config.Seconds `env:"TEST_LIMIT"`
}

// TestMain is also the function that the tests start: Run ends its process.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_FUNCTION") == "" {
		os.Exit(m.Run())
	}
	coldstart.Run("test", build)
}

// build makes a handler that answers with its settings.
func build(c config.Function[settings]) (lambda.Handler, error) {
	if c.Settings.Limit > 100 {
		return nil, errors.New("TEST_LIMIT must be at most 100")
	}
	return lambda.NewHandler(func(ctx context.Context) ([]any, error) {
		c.Log.InfoContext(ctx, "invoked")
		c.Metrics.Count("Invocations", 1)
		return []any{c.Settings, c.AWS.Region}, c.Metrics.Flush()
	}), nil
}

// started is a process that ended.
type started struct {
	lines []map[string]any // that it logged
	err   error            // of its exit
}

// start runs the function until it ends. With no variables, it has all that it needs to start; those that are given
// override these.
func start(t *testing.T, variables ...string) started {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append([]string{
		"TEST_FUNCTION=1", "AWS_LAMBDA_LOG_FORMAT=JSON", "STAGE=prod", "TEST_TABLE=Endpoints", "TEST_LIMIT=50",
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=AKID", "AWS_SECRET_ACCESS_KEY=hush",
	}, variables...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	s := started{err: cmd.Run()}
	for line := range bytes.Lines(stdout.Bytes()) {
		var l map[string]any
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		delete(l, "timestamp")
		s.lines = append(s.lines, l)
	}
	return s
}

func TestRun_endsWithOneLineThatNamesEveryVariableAndShowsNoValue(t *testing.T) {
	awsMissing := "loading the AWS configuration: AWS_REGION and the role's credentials are not in the environment"
	for name, test := range map[string]struct {
		variables []string
		want      string
	}{
		"settings": {
			[]string{"TEST_TABLE=", "TEST_LIMIT=hush"},
			`reading the environment: env: environment variable "TEST_TABLE" should not be empty; ` +
				`environment variable "TEST_LIMIT" is not of type int`,
		},
		"the stage": {
			[]string{"STAGE="}, `reading the environment: env: environment variable "STAGE" should not be empty`,
		},
		"the AWS configuration":   {[]string{"AWS_REGION="}, awsMissing},
		"half of the credentials": {[]string{"AWS_SECRET_ACCESS_KEY="}, awsMissing},
		"both at once": {
			[]string{"TEST_TABLE=", "AWS_ACCESS_KEY_ID="},
			`reading the environment: env: environment variable "TEST_TABLE" should not be empty` + "\n" + awsMissing,
		},
		"what the handler refuses": {[]string{"TEST_LIMIT=101"}, "TEST_LIMIT must be at most 100"},
	} {
		t.Run(name, func(t *testing.T) {
			got := start(t, test.variables...)
			var exit *exec.ExitError
			if !errors.As(got.err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("ended with %v, want exit status 1", got.err)
			}
			want := []map[string]any{{"level": "ERROR", "message": "cold start failed", "error": test.want}}
			if diff := cmp.Diff(want, got.lines); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// The Runtime API hands over one invocation and is then gone, which ends the function.
func TestRun_answersInvocationsWithSettingsAndAWSConfiguration(t *testing.T) {
	answers := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			b, _ := io.ReadAll(r.Body)
			answers <- r.URL.Path + " " + string(b)
			w.WriteHeader(http.StatusAccepted)
		case len(answers) == 0:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "request-1")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", "99999999999999")
			_, _ = io.WriteString(w, "{}")
		default:
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(server.Close)
	got := start(t, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(server.URL, "http://"))
	if got.err == nil {
		t.Error("the function ends well without a Runtime API")
	}
	want := `/2018-06-01/runtime/invocation/request-1/response [{"Table":"Endpoints","Limit":50},"eu-central-1"]`
	select {
	case answer := <-answers:
		if diff := cmp.Diff(want, answer); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	default:
		t.Fatal("no answer")
	}
	if len(got.lines) < 2 {
		t.Fatalf("%d lines, want a log line and a metric", len(got.lines))
	}
	line := map[string]any{"level": "INFO", "message": "invoked", "requestId": "request-1"}
	if diff := cmp.Diff(line, got.lines[0]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if about, ok := got.lines[1]["_aws"].(map[string]any); ok {
		delete(about, "Timestamp")
	}
	metric := map[string]any{
		"_aws": map[string]any{"CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Herald/prod", "Dimensions": []any{[]any{"service"}},
			"Metrics": []any{map[string]any{"Name": "Invocations", "Unit": "Count"}},
		}}},
		"service": "test", "Invocations": []any{1.0},
	}
	if diff := cmp.Diff(metric, got.lines[1]); diff != "" {
		t.Errorf("metric (-want +got):\n%s", diff)
	}
}
