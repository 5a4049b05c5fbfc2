package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

func TestTemplate_holdsTheReceiversCode(t *testing.T) {
	body, err := template()
	if err != nil {
		t.Fatal(err)
	}
	var parsed cfn.Object
	if err := yaml.Unmarshal([]byte(body), &parsed); err != nil {
		t.Fatal(err)
	}
	code := cfn.At(parsed, "Resources", "Receiver", "Properties", "Code")
	if code["ZipFile"] != receiverCode || len(receiverCode) > 4096 {
		t.Errorf("the code, of %d bytes, is not in the template", len(receiverCode))
	}
	if !strings.Contains(body, "!GetAtt Requests.Arn") {
		t.Error("the template lost its functions")
	}
}

// The receiver's code runs under Node.js, which make puts on the path, with a queue client that keeps the message.
func TestReceiverOnAWS_answersAsItsAddressSays(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.mjs": receiverCode,
		"node_modules/@aws-sdk/client-sqs/package.json": `{"type":"module","main":"index.js"}`,
		"node_modules/@aws-sdk/client-sqs/index.js": `export class SQSClient { send(c) { globalThis.sent = c.MessageBody } }
			export class SendMessageCommand { constructor(i) { Object.assign(this, i) } }`,
		"run.mjs": `import { handler } from "./index.mjs";
			const answer = await handler(JSON.parse(process.argv[2]));
			console.log(JSON.stringify({ ...JSON.parse(globalThis.sent), ...answer }))`,
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
		node := exec.CommandContext(t.Context(), "node", "run.mjs", event)
		node.Dir = dir
		out, err := node.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Request
			Inbox      string `json:"inbox"`
			StatusCode int    `json:"statusCode"`
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
