package verify

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// The receiver's code runs under Node.js, which make puts on the path, as the CommonJS module that CloudFormation
// makes of it, with a queue client that keeps the message.
func TestReceiverOnAWS_answersAsItsAddressSays(t *testing.T) {
	var template cfn.Object
	if err := yaml.Unmarshal([]byte(receiverTemplate), &template); err != nil {
		t.Fatal(err)
	}
	code, _ := cfn.At(template, "Resources", "Receiver", "Properties", "Code")["ZipFile"].(string)
	if code == "" || len(code) > 4096 {
		t.Fatalf("code of %d bytes, of which Lambda takes 4096", len(code))
	}
	function := cfn.At(template, "Resources", "Receiver", "Properties")
	secret := cfn.At(template, "Parameters", "Secret")
	if function["ReservedConcurrentExecutions"] == nil || secret["NoEcho"] != true || secret["MinLength"] != 32 {
		t.Error("anybody may use up the account's concurrency, or the secret is short, or shown")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.cjs": code,
		"node_modules/@aws-sdk/client-sqs/index.js": `
			exports.SQSClient = class { send(c) { globalThis.sent = c.MessageBody } }
			exports.SendMessageCommand = class { constructor(i) { Object.assign(this, i) } }`,
		"run.cjs": `
			globalThis.setTimeout = (then, ms) => { globalThis.paused = ms; then() }
			require("./index.cjs").handler(JSON.parse(process.argv[2])).then((answer) =>
				console.log(JSON.stringify({ ...JSON.parse(globalThis.sent ?? "{}"), ...answer, paused: globalThis.paused })))`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(path, query string) (got answered) {
		event := `{"rawPath":"` + path + `","queryStringParameters":{` + query + `},"body":"aGk=","isBase64Encoded":true,
			"headers":{"wh-id":"msg_1","wh-webhook-event":"user.created","wh-timestamp":"1","wh-signature":"v1,x"}}`
		node := exec.CommandContext(t.Context(), "node", "run.cjs", event)
		node.Dir, node.Env = dir, append(os.Environ(), "SECRET="+known)
		out, err := node.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for query, want := range map[string]answered{
		"": {StatusCode: 200}, `"until":"1"`: {StatusCode: 200}, `"until":"9999999999999"`: {StatusCode: 503},
		`"pause":"300"`: {StatusCode: 200, Paused: 300}, `"pause":"3600000"`: {StatusCode: 200, Paused: 1000},
	} {
		want.Request = receiver.Request{
			Inbox: "main", ID: "msg_1", Event: "user.created", Timestamp: 1, Signature: "v1,x", Body: []byte("hi"),
			Status: want.StatusCode,
		}
		got := run("/"+known+"/main", query)
		got.At = time.Time{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with {%s} (-want +got):\n%s", query, diff)
		}
	}
	for _, path := range strangers {
		if diff := cmp.Diff(answered{StatusCode: 404}, run(path, `"pause":"300"`)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// answered has an answer, the recorded request, and the pause in milliseconds.
type answered struct {
	receiver.Request
	StatusCode int `json:"statusCode"`
	Paused     int `json:"paused"`
}

// known is a secret in a receiver's address, strangers are addresses without it.
const known = "0123456789abcdef"

var strangers = []string{"/main", "/", "", "//m", "/" + known[1:] + "/main", "/" + known + "x/main", "/main/" + known}

func TestLocal_keepsRequestsToItsOwnAddressAndPausesForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Local{secret: known, requests: map[string][]receiver.Request{}}
		ask := func(address string) (status int, took time.Duration) {
			w, began := httptest.NewRecorder(), time.Now()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://localhost/", strings.NewReader("hi"))
			path, query, _ := strings.Cut(address, "?")
			r.URL.Path, r.URL.RawQuery = path, query
			l.ServeHTTP(w, r)
			return w.Code, time.Since(began)
		}
		for _, address := range strangers {
			if status, took := ask(address + "?pause=300"); status != http.StatusNotFound || took != 0 {
				t.Errorf("%s: %d after %s", address, status, took)
			}
		}
		if len(l.requests) != 0 {
			t.Errorf("recorded %+v", l.requests)
		}
		for query, want := range map[string]time.Duration{
			"": 0, "pause=300": 300 * time.Millisecond, "pause=3600000": time.Second,
		} {
			if status, took := ask("/" + known + "/main?" + query); status != http.StatusOK || took != want {
				t.Errorf("with %s: %d after %s", query, status, took)
			}
		}
		if got, err := l.Requests(t.Context(), "main"); len(got) != 3 || err != nil {
			t.Errorf("recorded %+v, %v", got, err)
		}
	})
}
