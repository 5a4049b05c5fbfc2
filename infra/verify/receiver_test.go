package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"gopkg.in/yaml.v3"

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
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.cjs": code,
		"node_modules/@aws-sdk/client-sqs/index.js": `
			exports.SQSClient = class { send(c) { globalThis.sent = c.MessageBody } }
			exports.SendMessageCommand = class { constructor(i) { Object.assign(this, i) } }`,
		"run.cjs": `require("./index.cjs").handler(JSON.parse(process.argv[2])).then((answer) =>
			console.log(JSON.stringify({ ...JSON.parse(globalThis.sent), ...answer })))`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for until, want := range map[string]int{
		"": 200, `"until":"1"`: 200, `"until":"9999999999999"`: 503, `"pause":"1"`: 200,
	} {
		event := `{"rawPath":"/main","queryStringParameters":{` + until + `},"body":"aGk=","isBase64Encoded":true,
			"headers":{"wh-id":"msg_1","wh-webhook-event":"user.created","wh-timestamp":"1","wh-signature":"v1,x"}}`
		node := exec.CommandContext(t.Context(), "node", "run.cjs", event)
		node.Dir = dir
		out, err := node.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Request
			StatusCode int `json:"statusCode"`
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if got.StatusCode != want || got.Status != want || got.ID != "msg_1" || string(got.Body) != "hi" ||
			got.Inbox != "main" || got.Event != "user.created" || got.Timestamp != "1" || got.Signature != "v1,x" {
			t.Errorf("with {%s}: answered and recorded %+v", until, got)
		}
	}
}
