//go:build emulator

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
)

// said is the output of each generated client about the life of an endpoint, its faults included, and about an answer
// of a later version.
const said = `create 201 active user.created,organization.* true
get 200 https://example.com/hooks true
put 201 200 active
list 200 * true true
event types 200 26 4
update 200 disabled two
test 200 202 true
rotate 200 true true
restore too early 409 409 endpoint_not_deleted -
delete 204
update too late 409 409 endpoint_deleted -
get 200 deleted true
restore 200 active false
unknown key 401 401 unauthenticated -
key without the scope 403 403 insufficient_scope -
unknown endpoint 404 404 endpoint_not_found -
url 422 422 validation_failed /url
cursor 400 400 invalid_cursor cursor
later 200 paused user.renamed
later 409 409 endpoint_moved -
throttled 429 Too Many Requests
`

// TestAClientOfEachGeneratorTakesAnEndpointThroughItsLife makes a client of infra/openapi.yaml with each
// generator and runs the program in infra/clients that uses it.
func TestAClientOfEachGeneratorTakesAnEndpointThroughItsLife(t *testing.T) {
	t.Parallel()
	checked, later := startProxy(t, exchanges), startLater(t)
	for _, language := range []string{"go", "typescript", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			c := tenant(t)
			reader := get(t, api.IssueKey, api.IssueKeyRequest{
				TenantID: c.TenantID, Scopes: &[]apikey.Scope{apikey.Read},
			}).APIKey
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "infra", "clients", language))); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(openapiTools("node_modules"), filepath.Join(folder, "node_modules")); err != nil {
				t.Fatal(err)
			}
			out := runTool(t, folder, []string{
				"DESCRIPTION=" + filepath.Join(root, "infra", "openapi.yaml"),
				"API=" + checked, "KEY=" + c.APIKey, "READ_KEY=" + reader, "LATER_API=" + later,
			}, "bash", "run.sh")
			if diff := cmp.Diff(said, out); diff != "" {
				t.Errorf("the %s client (-want +got):\n%s", language, diff)
			}
		})
	}
}

// TestSchemathesisFindsNothing sends valid and invalid requests that schemathesis generates from infra/openapi.yaml.
func TestSchemathesisFindsNothing(t *testing.T) {
	t.Parallel()
	clients, c := filepath.Join(root, "infra", "clients"), tenant(t)
	out := runTool(t, t.TempDir(), []string{"PYTHONPATH=" + clients, "PYTHONDONTWRITEBYTECODE=1"},
		openapiTools("bin", "schemathesis"), "--config-file", filepath.Join(clients, "schemathesis.toml"),
		"run", filepath.Join(root, "infra", "openapi.yaml"), "--url", startProxy(t, http.DefaultTransport),
		"--header", "Authorization: Bearer "+c.APIKey, "--no-color")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if verdict := lines[len(lines)-1]; !strings.Contains(verdict, "No issues found") {
		t.Errorf("schemathesis ends with %q", verdict)
	}
	for _, phase := range []string{"Examples", "Coverage", "Fuzzing", "Stateful"} {
		if !strings.Contains(out, "✅ "+phase+"\n") {
			t.Errorf("phase %s did not run", phase)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// openapiTools is a path below the folder of the tools that make installs from infra/clients.
func openapiTools(path ...string) string {
	return filepath.Join(append([]string{root, ".tools", "openapi"}, path...)...)
}

// runTool runs a command in the folder, with the tools in its path, and returns its output.
func runTool(t *testing.T, folder string, env []string, command ...string) string {
	t.Helper()
	if _, err := os.Stat(openapiTools("installed")); err != nil {
		t.Fatalf("the tools are not installed, run `make tools`: %v", err)
	}
	defer alone()()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = folder
	path := openapiTools("bin") + ":" + openapiTools("node_modules", ".bin") + ":" + os.Getenv("PATH")
	cmd.Env = append(append(os.Environ(), "PATH="+path), env...)
	return execute(t, cmd)
}

// startProxy starts a way to the HTTP API for programs that take a 503 for a fault: it tries again for them.
func startProxy(t *testing.T, transport http.RoundTripper) string {
	t.Helper()
	target, err := url.Parse(operator.APIURL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.RawQuery = r.In.URL.RawQuery // also where it is malformed
		},
		Transport: patient{transport},
	})
	t.Cleanup(server.Close)
	return server.URL
}

// patient repeats a request that is answered 503, after the time in Retry-After or after a second. API Gateway answers
// so while all processes of the function are busy.
type patient struct{ http.RoundTripper }

func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("reading request: %w", err)
		}
	}
	for {
		try := req.Clone(req.Context())
		if req.Body != nil {
			try.Body = io.NopCloser(bytes.NewReader(body))
		}
		res, err := p.RoundTripper.RoundTrip(try)
		if err != nil || res.StatusCode != http.StatusServiceUnavailable {
			return res, err
		}
		_ = res.Body.Close()
		after, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil {
			after = 1
		}
		if !client.Pause(req.Context(), time.Duration(after)*time.Second) {
			return nil, req.Context().Err()
		}
	}
}

// startLater starts a service that answers with values and fields that this version does not know,
// and with the gateway's own 429.
func startLater(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, kind, body := http.StatusOK, "application/json", `{"id":"webhook_1","url":"https://example.com",
			"description":"","events":["user.renamed"],"status":"paused","created_at":"2026-03-01T12:00:00.000Z",
			"updated_at":"2026-03-01T12:00:00.000Z","deleted_at":null,"secret_rotated_at":null,
			"previous_secret_until":null,"public_key":null,"rate_limit":null,"operator_rate_limit":null,
			"effective_rate_limit":null,"rate":5}`
		switch r.Method {
		case http.MethodPost:
			status, kind, body = http.StatusConflict, "application/problem+json", `{"type":"urn:herald:problem:endpoint_moved",
				"title":"Moved","status":409,"detail":"It has moved.","code":"endpoint_moved","request_id":"r","hint":"wait"}`
		case http.MethodDelete:
			status, body = http.StatusTooManyRequests, `{"message":"Too Many Requests"}`
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-Request-Id", "r")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
